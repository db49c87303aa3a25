import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.NullsFirst$;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.QueryPlan;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.DayTimeIntervalType;

/**
 * Optimised plans of transformations: told as JSON, and made anew over other rows (spark.md 2.2, 3.2).
 * Nodes are numbered in preorder. Janino knows no generics and no lambdas.
 */
public class OdfPlan {
    // --- telling -------------------------------------------------------------------------------

    /** The plan as JSON: number, class, output and expressions of each node. */
    public static String describe(Object plan) {
        StringBuilder text = new StringBuilder();
        tell((LogicalPlan) plan, new int[] {0}, text);
        return text.toString();
    }

    private static void tell(LogicalPlan node, int[] next, StringBuilder text) {
        text.append("{\"number\":").append(next[0]++).append(",\"kind\":").append(quoted(kind(node)));
        text.append(",\"output\":");
        tellAll(node.output(), text);
        if (node instanceof Aggregate) {
            tellField("keys", ((Aggregate) node).groupingExpressions(), text);
            tellField("expressions", ((Aggregate) node).aggregateExpressions(), text);
        } else if (node instanceof Window) {
            tellField("keys", ((Window) node).partitionSpec(), text);
            tellField("order", ((Window) node).orderSpec(), text);
            tellField("expressions", ((Window) node).windowExpressions(), text);
        } else {
            tellField("expressions", ((QueryPlan) (Object) node).expressions(), text);
        }
        if (node instanceof Join) {
            text.append(",\"join\":").append(quoted(((Join) node).joinType().sql()));
        } else if (node instanceof Sort) {
            text.append(",\"global\":").append(((Sort) node).global());
        } else if (node instanceof LogicalRelation) {
            text.append(",\"file\":").append(quoted(fileOf((LogicalRelation) node)));
        }
        text.append(",\"children\":[");
        scala.collection.Iterator children = node.children().iterator();
        for (boolean first = true; children.hasNext(); first = false) {
            if (!first) text.append(',');
            tell((LogicalPlan) (Object) children.next(), next, text);
        }
        text.append("]}");
    }

    private static String fileOf(LogicalRelation leaf) {
        Object relation = leaf.relation();
        if (!(relation instanceof HadoopFsRelation)) return "";
        return ((HadoopFsRelation) relation).location().rootPaths().head().toString();
    }

    private static void tellField(String name, scala.collection.Seq expressions, StringBuilder text) {
        text.append(",\"").append(name).append("\":");
        tellAll(expressions, text);
    }

    private static void tellAll(scala.collection.Seq expressions, StringBuilder text) {
        text.append('[');
        scala.collection.Iterator items = expressions.iterator();
        for (boolean first = true; items.hasNext(); first = false) {
            if (!first) text.append(',');
            tellExpression((Expression) (Object) items.next(), text);
        }
        text.append(']');
    }

    private static void tellExpression(Expression expression, StringBuilder text) {
        text.append("{\"kind\":").append(quoted(kind(expression)));
        if (expression instanceof NamedExpression && expression.resolved()) {
            NamedExpression named = (NamedExpression) (Object) expression;
            text.append(",\"id\":").append(named.exprId().id());
            text.append(",\"name\":").append(quoted(named.name()));
            if (named.metadata().contains("spark.timeWindow")) text.append(",\"window\":\"time\"");
            if (named.metadata().contains("spark.sessionWindow")) text.append(",\"window\":\"session\"");
        }
        text.append(typeOf(expression));
        if (expression instanceof AggregateExpression && ((AggregateExpression) expression).isDistinct()) {
            text.append(",\"distinct\":true");
        }
        if (expression instanceof Literal && expression.dataType() instanceof DayTimeIntervalType
                && ((Literal) expression).value() instanceof Long) {
            text.append(",\"micros\":").append(((Literal) expression).value());
        }
        if (expression instanceof GetStructField) {
            text.append(",\"field\":").append(((GetStructField) expression).ordinal());
        }
        if (!expression.children().isEmpty()) {
            text.append(",\"children\":");
            tellAll(expression.children(), text);
        }
        text.append('}');
    }

    /** The type, where an expression has one: parts of windows and aggregates have none. */
    private static String typeOf(Expression expression) {
        try {
            return ",\"type\":" + quoted(expression.dataType().catalogString());
        } catch (RuntimeException error) {
            return "";
        } catch (Exception error) {
            return "";
        }
    }

    private static String kind(Object node) {
        return node.getClass().getSimpleName().replace("$", "");
    }

    private static String quoted(String value) {
        StringBuilder text = new StringBuilder("\"");
        for (int i = 0; i < value.length(); i++) {
            char letter = value.charAt(i);
            if (letter == '"' || letter == '\\') text.append('\\').append(letter);
            else if (letter < ' ') text.append(String.format("\\u%04x", new Object[] {Integer.valueOf(letter)}));
            else text.append(letter);
        }
        return text.append('"').toString();
    }

    // --- making anew ---------------------------------------------------------------------------

    /** Without sorts that decide about nothing: the order of a result is the engine's to decide. */
    public static Object unsorted(Object plan) {
        LogicalPlan top = (LogicalPlan) plan;
        if (top instanceof Sort) return unsorted(((Sort) top).child());
        if (top instanceof Project && ((Project) top).child() instanceof Sort) {
            Object below = unsorted(((Project) top).child());
            return new Project(((Project) top).projectList(), (LogicalPlan) below);
        }
        return top;
    }

    /** The node of this number. */
    public static Object node(Object plan, Object number) {
        return find((LogicalPlan) plan, new int[] {((Number) number).intValue()});
    }

    private static LogicalPlan find(LogicalPlan node, int[] left) {
        if (left[0]-- == 0) return node;
        scala.collection.Iterator children = node.children().iterator();
        while (children.hasNext()) {
            LogicalPlan found = find((LogicalPlan) (Object) children.next(), left);
            if (found != null) return found;
        }
        return null;
    }

    /**
     * A linear plan over other rows. `rows` has, for each leaf from left to right, a plan whose columns are
     * those of the leaf and `extra` more; these are carried along, and come last in the result.
     */
    public static Object carried(Object plan, Object[] rows, Object extra) {
        return plain(carry((LogicalPlan) plan, rows, new int[] {0}, ((Number) extra).intValue()));
    }

    /** Columns without metadata: rows that are grouped by a session's window would else be merged. */
    private static LogicalPlan plain(LogicalPlan plan) {
        List columns = new ArrayList();
        List output = listOf(plan.output());
        for (int i = 0; i < output.size(); i++) {
            Attribute column = (Attribute) output.get(i);
            columns.add(new Alias(
                column, column.name(), NamedExpression$.MODULE$.newExprId(), seqOf(new ArrayList()),
                scala.Option.apply(org.apache.spark.sql.types.Metadata.empty()), seqOf(new ArrayList())));
        }
        return new Project(seqOf(columns), plan);
    }

    private static LogicalPlan carry(LogicalPlan node, Object[] rows, int[] next, int extra) {
        if (node instanceof LogicalRelation) {
            return renamed(node.output(), (LogicalPlan) rows[next[0]++], extra);
        }
        List children = new ArrayList();
        scala.collection.Iterator below = node.children().iterator();
        while (below.hasNext()) children.add(carry((LogicalPlan) (Object) below.next(), rows, next, extra));
        LogicalPlan child = (LogicalPlan) children.get(0);
        if (node instanceof Project) {
            List columns = listOf(((Project) node).projectList());
            columns.addAll(lastOf(child, extra));
            return new Project(seqOf(columns), child);
        }
        if (node instanceof Expand) {
            Expand expand = (Expand) node;
            List projections = new ArrayList();
            scala.collection.Iterator each = expand.projections().iterator();
            while (each.hasNext()) {
                List columns = listOf((scala.collection.Seq) (Object) each.next());
                columns.addAll(lastOf(child, extra));
                projections.add(seqOf(columns));
            }
            List output = listOf(expand.output());
            output.addAll(lastOf(child, extra));
            return new Expand(seqOf(projections), seqOf(output), child);
        }
        LogicalPlan made = (LogicalPlan) (Object) node.withNewChildren(indexedOf(children));
        if (!(node instanceof Generate)) return made;
        List carried = lastOf(child, extra);  // what is generated stands behind the columns of the child
        List columns = listOf(made.output());
        columns.removeAll(carried);
        columns.addAll(carried);
        return new Project(seqOf(columns), made);
    }

    /**
     * The plan with other rows in the places of the nodes `roots`: `rows` has a plan with the columns of each.
     * Below the nodes `canonical`, aggregates and windows, rows get an order that does not depend on how they
     * are divided among tasks.
     */
    public static Object substituted(Object plan, Object[] roots, Object[] rows, Object[] canonical) {
        return substitute((LogicalPlan) plan, new int[] {0}, roots, rows, canonical);
    }

    private static LogicalPlan substitute(
            LogicalPlan node, int[] next, Object[] roots, Object[] rows, Object[] canonical) {
        int number = next[0]++;
        int place = placeOf(number, roots);
        if (place >= 0) {
            next[0] = number + size(node);
            return renamed(node.output(), (LogicalPlan) rows[place], 0);
        }
        List children = new ArrayList();
        scala.collection.Iterator below = node.children().iterator();
        while (below.hasNext()) {
            children.add(substitute((LogicalPlan) (Object) below.next(), next, roots, rows, canonical));
        }
        if (children.isEmpty()) return node;
        if (placeOf(number, canonical) >= 0) children.set(0, ordered(node, (LogicalPlan) children.get(0)));
        return (LogicalPlan) (Object) node.withNewChildren(indexedOf(children));
    }

    private static LogicalPlan ordered(LogicalPlan node, LogicalPlan child) {
        List keys, orders = new ArrayList(), columns = new ArrayList();
        scala.collection.Iterator output = child.output().iterator();
        if (node instanceof Aggregate) {
            keys = listOf(((Aggregate) node).groupingExpressions());
            while (output.hasNext()) {
                Attribute column = (Attribute) (Object) output.next();
                if (node.references().contains(column)) columns.add(column);
            }
        } else {
            keys = listOf(((Window) node).partitionSpec());
            orders.addAll(listOf(((Window) node).orderSpec()));
            while (output.hasNext()) columns.add(output.next());
        }
        LogicalPlan divided = keys.isEmpty()
            ? (LogicalPlan) (Object) new Repartition(1, true, child)
            : (LogicalPlan) (Object) new RepartitionByExpression(seqOf(keys), child, scala.Option.empty(), scala.Option.empty());
        List all = new ArrayList();
        for (int i = 0; i < keys.size(); i++) all.add(ascending((Expression) keys.get(i)));
        all.addAll(orders);
        for (int i = 0; i < columns.size(); i++) all.add(ascending((Expression) columns.get(i)));
        return new Sort(seqOf(all), false, divided, scala.Option.empty());
    }

    private static SortOrder ascending(Expression expression) {
        return new SortOrder(expression, Ascending$.MODULE$, NullsFirst$.MODULE$, seqOf(new ArrayList()));
    }

    /** Rows under the names and identities that a plan above them knows; the last columns as they are. */
    private static LogicalPlan renamed(scala.collection.Seq output, LogicalPlan rows, int extra) {
        List columns = new ArrayList();
        List given = listOf(rows.output());
        for (int i = 0; i < output.size(); i++) {
            Attribute known = (Attribute) (Object) output.apply(i);
            columns.add(new Alias(
                (Expression) given.get(i), known.name(), known.exprId(), known.qualifier(),
                scala.Option.apply(org.apache.spark.sql.types.Metadata.empty()), seqOf(new ArrayList())));
        }
        for (int i = given.size() - extra; i < given.size(); i++) columns.add(given.get(i));
        return new Project(seqOf(columns), rows);
    }

    private static List lastOf(LogicalPlan plan, int count) {
        List output = listOf(plan.output());
        return output.subList(output.size() - count, output.size());
    }

    private static int placeOf(int number, Object[] numbers) {
        for (int i = 0; i < numbers.length; i++) {
            if (((Number) numbers[i]).intValue() == number) return i;
        }
        return -1;
    }

    private static int size(LogicalPlan node) {
        int count = 1;
        scala.collection.Iterator children = node.children().iterator();
        while (children.hasNext()) count += size((LogicalPlan) (Object) children.next());
        return count;
    }

    private static List listOf(scala.collection.Seq items) {
        List list = new ArrayList();
        scala.collection.Iterator iterator = items.iterator();
        while (iterator.hasNext()) list.add(iterator.next());
        return list;
    }

    private static scala.collection.immutable.Seq seqOf(List items) {
        return scala.jdk.javaapi.CollectionConverters.asScala(items).toList();
    }

    private static scala.collection.immutable.IndexedSeq indexedOf(List items) {
        return scala.jdk.javaapi.CollectionConverters.asScala(items).toIndexedSeq();
    }
}
