import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.analysis.UnresolvedGenerator;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.plans.QueryPlan;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.internal.SQLConf;

/**
 * Judges a query by its plan against lists of what is allowed. Only the first fault leaves the JVM, as
 * "start stop kind name": positions are code points of the query's text, -1 where none is known.
 */
public class OdfGate {
    private static Set parsedPlans, analysedPlans, functions, tableFunctions, expressions;

    private final String sql;
    private final Set tables;
    private final boolean analysed;
    private String fault;

    private OdfGate(String sql, Set tables, boolean analysed) {
        this.sql = sql;
        this.tables = tables;
        this.analysed = analysed;
    }

    /** Sets the lists, each as names divided by blanks. */
    public static void allow(String parsed, String analysed, String names, String tableNames, String classes) {
        parsedPlans = setOf(parsed);
        analysedPlans = setOf(analysed);
        functions = setOf(names);
        tableFunctions = setOf(tableNames);
        expressions = setOf(classes);
    }

    /** What the settings of the session in force would let pass before any plan is seen. */
    public static String settings() {
        if (SQLConf.get().variableSubstituteEnabled()) return "spark.sql.variable.substitute";
        if (SQLConf.get().runSQLonFile()) return "spark.sql.runSQLOnFiles";
        return null;
    }

    /** The first fault of a parsed plan, or null; `inputs` are names in lower case divided by newlines. */
    public static String parsed(Object plan, String sql, String inputs) {
        Set tables = new HashSet(Arrays.asList(inputs.split("\n")));
        collectNames((TreeNode) plan, tables);
        OdfGate gate = new OdfGate(sql, tables, false);
        gate.walk((TreeNode) plan, -1, -1);
        return gate.fault;
    }

    /** The first fault of an analysed plan, or null. */
    public static String analysed(Object plan, String sql, String inputs) {
        OdfGate gate = new OdfGate(sql, new HashSet(Arrays.asList(inputs.split("\n"))), true);
        gate.walk((TreeNode) plan, -1, -1);
        if (gate.fault == null && !((QueryPlan) plan).deterministic()) return "-1 -1 nondeterministic query";
        return gate.fault;
    }

    private static Set setOf(String names) {
        return new HashSet(Arrays.asList(names.trim().split("\\s+")));
    }

    /** Names of common table expressions, wherever they stand: Spark finds those that are in scope. */
    private static void collectNames(TreeNode node, Set names) {
        if (node instanceof UnresolvedWith) {
            scala.collection.Iterator relations = ((UnresolvedWith) node).cteRelations().iterator();
            while (relations.hasNext()) {
                String name = (String) ((scala.Product) (Object) relations.next()).productElement(0);
                names.add(name.toLowerCase(Locale.ROOT));
            }
        }
        scala.collection.Iterator[] below = below(node);
        for (int i = 0; i < below.length; i++) {
            while (below[i].hasNext()) collectNames((TreeNode) (Object) below[i].next(), names);
        }
    }

    private static scala.collection.Iterator[] below(TreeNode node) {
        scala.collection.Iterator none = scala.collection.immutable.Nil$.MODULE$.iterator();
        scala.collection.Iterator children = node.children().iterator();
        scala.collection.Iterator inner = node.innerChildren().iterator();
        scala.collection.Iterator expressions = none;
        if (node instanceof QueryPlan) expressions = ((QueryPlan) node).expressions().iterator();
        scala.collection.Iterator plans = none;
        if (node instanceof PlanExpression) {
            plans = scala.collection.Iterator$.MODULE$.single(((PlanExpression) node).plan());
        }
        scala.collection.Iterator replacement = none;
        if (node instanceof RuntimeReplaceable) {
            replacement = scala.collection.Iterator$.MODULE$.single(((RuntimeReplaceable) node).replacement());
        }
        return new scala.collection.Iterator[] {children, expressions, inner, plans, replacement};
    }

    private void walk(TreeNode node, int start, int stop) {
        Origin origin = node.origin();
        if (origin.startIndex().isDefined() && origin.stopIndex().isDefined()) {
            int from = ((Integer) (Object) origin.startIndex().get()).intValue();
            int to = ((Integer) (Object) origin.stopIndex().get()).intValue();
            if (from >= 0 && to >= from) {
                start = from;
                stop = to;
            }
        }
        if (node instanceof View && analysed) {
            String name = ((View) node).desc().identifier().table().toLowerCase(Locale.ROOT);
            if (!tables.contains(name)) fail(start, stop, "table", name);
            return;
        }
        if (node instanceof LogicalPlan) judgePlan((LogicalPlan) node, start, stop);
        else if (node instanceof Expression) judgeExpression((Expression) node, start, stop);
        scala.collection.Iterator[] below = below(node);
        for (int i = 0; i < below.length && fault == null; i++) {
            while (below[i].hasNext() && fault == null) walk((TreeNode) (Object) below[i].next(), start, stop);
        }
    }

    private void judgePlan(LogicalPlan plan, int start, int stop) {
        String name = plan.getClass().getSimpleName().replace("$", "");
        if (!(analysed ? analysedPlans : parsedPlans).contains(name)) {
            fail(start, stop, "plan", name);
        } else if (plan instanceof UnresolvedWith && ((UnresolvedWith) plan).allowRecursion()) {
            fail(start, stop, "plan", "WithRecursive");
        } else if (plan instanceof Sort && !((Sort) plan).global()) {
            fail(start, stop, "plan", "SortBy");
        } else if (plan instanceof UnresolvedRelation) {
            UnresolvedRelation relation = (UnresolvedRelation) plan;
            String table = relation.multipartIdentifier().mkString(".");
            if (relation.multipartIdentifier().size() != 1 || !tables.contains(table.toLowerCase(Locale.ROOT))) {
                fail(start, stop, "table", table);
            }
        } else if (plan instanceof UnresolvedTableValuedFunction) {
            judgeName(((UnresolvedTableValuedFunction) plan).name(), tableFunctions, start, stop);
        }
    }

    private void judgeExpression(Expression expression, int start, int stop) {
        if (analysed) {
            judgeClass(expression, start, stop);
            return;
        }
        if (expression instanceof UnresolvedFunction) {
            judgeName(((UnresolvedFunction) expression).nameParts(), functions, start, stop);
        } else if (expression instanceof UnresolvedGenerator) {
            String name = ((UnresolvedGenerator) expression).name().funcName().toLowerCase(Locale.ROOT);
            if (!tableFunctions.contains(name)) fail(start, stop, "function", name);
        } else if (expression instanceof Literal) {
            judgeWord((Literal) expression, start, stop);
        } else if (expression.getClass().getSimpleName().endsWith("UnresolvedIdentifier")) {
            fail(start, stop, "plan", "Identifier");
        }
    }

    private void judgeName(scala.collection.immutable.Seq parts, Set allowed, int start, int stop) {
        String name = parts.mkString(".").toLowerCase(Locale.ROOT);
        if (parts.size() != 1 || !allowed.contains(name)) fail(start, stop, "function", name);
    }

    /** A typed literal such as timestamp'now' is a moment of the clock when the parser has read it. */
    private void judgeWord(Literal literal, int start, int stop) {
        String type = literal.dataType().typeName();
        if (!type.startsWith("timestamp") && !type.equals("date") && !type.startsWith("time")) return;
        String text = start < 0 ? "" : textOf(start, stop);
        int quote = Math.max(text.indexOf('\''), text.indexOf('"'));
        if (quote >= 0 && text.indexOf('\'') >= 0 && text.indexOf('"') >= 0) {
            quote = Math.min(text.indexOf('\''), text.indexOf('"'));
        }
        if (quote < 0 || !startsAsMoment(text.substring(quote + 1))) fail(start, stop, "moment", text);
    }

    private void judgeClass(Expression expression, int start, int stop) {
        String name = expression.getClass().getSimpleName().replace("$", "");
        if (!expressions.contains(name)) fail(start, stop, "expression", name);
        else if (!(expression instanceof PlanExpression) && !expression.deterministic()) {
            fail(start, stop, "nondeterministic", name);
        }
        if (expression instanceof Cast) judgeCast((Cast) expression, start, stop);
    }

    /** Constant text becomes a moment in the optimiser, which reads the clock for 'now' and the like. */
    private void judgeCast(Cast cast, int start, int stop) {
        Expression child = cast.child();
        String target = cast.dataType().catalogString();
        if (!child.foldable() || !child.dataType().catalogString().contains("string")) return;
        if (!target.contains("timestamp") && !target.contains("date") && !target.contains("time")) return;
        if (child instanceof Literal) {
            Object value = ((Literal) child).value();
            if (value == null || startsAsMoment(value.toString())) return;
        }
        fail(start, stop, "moment", start < 0 ? child.toString() : textOf(start, stop));
    }

    private static boolean startsAsMoment(String text) {
        String rest = text.trim();
        if (rest.isEmpty()) return false;
        char first = rest.charAt(0);
        return first >= '0' && first <= '9' || first == '+' || first == '-';
    }

    private String textOf(int start, int stop) {
        int length = sql.codePointCount(0, sql.length());
        if (stop >= length) return "";
        int from = sql.offsetByCodePoints(0, start);
        return sql.substring(from, sql.offsetByCodePoints(from, stop + 1 - start));
    }

    private void fail(int start, int stop, String kind, String name) {
        if (fault == null) fault = start + " " + stop + " " + kind + " " + name;
    }
}
