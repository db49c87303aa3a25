"""The gates on real Spark: each construct that leaks is refused, with its place; ordinary queries pass."""

import pytest

from odf_core.engines.errors import QueryInvalid, QueryRefused
from odf_core.engines.handle import SparkEngine

INPUTS = {
    "input": "id bigint, name string, at timestamp, v double, tags array<string>",
    "other": "id bigint, w int",
}

# ruff: noqa: E501
# query, what the place points at (None: no place is known), where it is seen
REFUSED = [
    ("select timestamp'now' from input", "timestamp'now'"),
    ("select date 'today' as d from input", "date 'today'"),
    ("select date'tomorrow'", "date'tomorrow'"),
    ("select timestamp_ntz'now'", "timestamp_ntz'now'"),
    ("select timestamp' \\u006eow'", "timestamp' \\u006eow'"),
    ("select cast('now' as timestamp) from input", "cast('now' as timestamp)"),
    ("select 'now'::timestamp", "'now'::timestamp"),
    ("select try_cast('today' as date)", "try_cast('today' as date)"),
    ("select date('now')", "date('now')"),
    ("select to_date('today')", "to_date('today')"),
    ("select to_timestamp('now')", "to_timestamp('now')"),
    ("select cast(concat('n', 'ow') as timestamp)", "cast(concat('n', 'ow') as timestamp)"),
    ("select year('now')", "year('now')"),
    ("select at > 'yesterday' from input", "at > 'yesterday'"),
    ("select coalesce(at, 'now') from input", "coalesce(at, 'now')"),
    ("select * from csv.`/etc/passwd`", "csv.`/etc/passwd`"),
    ("select * from identifier('csv.`/etc/passwd`')", "identifier('csv.`/etc/passwd`')"),
    ("select identifier('id') from input", "identifier('id')"),
    ("select * from hidden", "hidden"),
    ("select * from input where id in (select id from hidden)", "hidden"),
    ("with a as (select * from hidden) select * from a", "hidden"),
    ("select * from default.input", "default.input"),
    ("begin select 1; end", None),
    ("execute immediate 'select 1'", None),
    ("create table t (a int)", None),
    ("create temporary view x as select 1", None),
    ("insert into input select * from input", None),
    ("set spark.sql.ansi.enabled=false", None),
    ("reset", None),
    ("use default", None),
    ("add jar 'file:/x.jar'", None),
    ("cache table input", None),
    ("refresh table input", None),
    ("declare variable x int", None),
    ("show tables", None),
    ("describe input", None),
    ("explain select 1", None),
    ("create function f as 'x.Y'", None),
    ("drop table input", None),
    ("delete from input", None),
    ("merge into input using other on input.id = other.id when matched then delete", None),
    ("select transform(id) using 'cat' from input", None),
    ("select * from input tablesample (10 percent)", None),
    ("select current_timestamp from input", "current_timestamp"),
    ("select now() from input", "now()"),
    ("select id,\n  current_date\nfrom input", "current_date"),
    ("select curdate()", "curdate()"),
    ("select localtimestamp()", "localtimestamp()"),
    ("select localtime()", "localtime()"),
    ("select current_time", "current_time"),
    ("select unix_timestamp()", "unix_timestamp()"),
    ("select current_user", "current_user"),
    ("select user()", "user()"),
    ("select session_user", "session_user"),
    ("select current_catalog()", "current_catalog()"),
    ("select current_database()", "current_database()"),
    ("select current_schema()", "current_schema()"),
    ("select current_path()", "current_path()"),
    ("select current_timezone()", "current_timezone()"),
    ("select version()", "version()"),
    *[
        (f"select {call} from input", call)
        for call in (
            "rand()",
            "randn()",
            "random()",
            "uuid()",
            "randstr(5)",
            "uniform(1, 5)",
            "shuffle(tags)",
            "reflect('java.lang.System', 'getenv', 'HOME')",
            "java_method('java.lang.System', 'getenv', 'HOME')",
            "try_reflect('java.lang.System', 'getenv', 'HOME')",
            "spark_partition_id()",
            "monotonically_increasing_id()",
            "input_file_name()",
            "input_file_block_start()",
            "aes_encrypt(name, '0000111122223333')",
            "kll_sketch_agg_bigint(id)",
            "kll_sketch_agg_double(v)",
        )
    ],
    ("select id from input where rand() > 0.5", "rand()"),
    ("select id from input order by uuid()", "uuid()"),
    ("select (select max(now()) from other) from input", "now()"),
    ("select system.builtin.now()", "system.builtin.now()"),
    ("select /*+ broadcast(other) */ input.id from input join other on input.id = other.id", None),
    ("with recursive t(n) as (select 1 union all select n + 1 from t where n < 5) select * from t", None),
    ("select * from range(10)", "range(10)"),
    ("select * from input distribute by id", None),
    ("select * from input sort by id", None),
    ("select * from input version as of 1", None),
    ("select * from sql_keywords()", "sql_keywords()"),
    ("select from_avro(name, 'x') from input", "from_avro(name, 'x')"),
]

ALLOWED = [
    "select * from input",
    "select '${env:HOME}' as t, `${x}` from (select 1 as `${x}`)",
    "select timestamp'2020-01-01 00:00:00', date'2020-02-03', timestamp_ntz'2020-01-01', cast('2020-01-01' as date)",
    "select cast(name as timestamp), to_date(name), to_timestamp(name, 'yyyy-MM-dd'), at > '2020-01-01' from input",
    "select id, sum(v), count(distinct name), first(name) from input group by id having sum(v) > 1 order by id",
    "select * from input left join other using (id) where input.id in (select id from other)",
    "with a as (select id from input), b as (select id from a) select * from a union all select * from b",
    "select id, row_number() over (partition by name order by at) from input",
    "select sum(v) over (order by at rows between 1 preceding and current row) from input",
    "select window(at, '1 hour').start as w, avg(v) from input group by window(at, '1 hour')",
    "select explode(tags) as tag from input",
    "select id, tag from input lateral view explode(tags) t as tag",
    "select * from (values (1, 'a'), (2, 'b')) as t(x, y)",
    "select transform(tags, x -> upper(x)), filter(tags, t -> t like 'a%'), tags[0] from input",
    "select * from (select id, name, v from input) pivot (sum(v) for name in ('a', 'b'))",
    "select id, case when v > 1 then 'big' else 'small' end, id % 2, -id, id & 3, id | 4, ~id from input",
    "select name || 'x', regexp_replace(name, 'a', 'b'), cast(v as decimal(10, 2)), extract(year from at) from input",
    "select at + interval '1' day, at - at, date_trunc('hour', at), unix_timestamp(at), from_unixtime(id) from input",
    "select id from input except select id from other intersect select w from other limit 5 offset 1",
    "select * from input i, lateral (select w from other o where o.id = i.id)",
    "select grouping(name), name, count(*) from input group by rollup(name)",
    "select from_json(name, 'a int, b timestamp'), get_json_object(name, '$.a'), named_struct('a', id).a from input",
    'select "id", count(*) from input group by all',
    "select xxhash64(name), md5(name), sha2(name, 256), aes_decrypt(unhex(name), '0000111122223333') from input",
]


def check(engine: SparkEngine, sql: str) -> None:
    engine.run("check_query", {"sql": sql, "inputs": INPUTS}, deadline=120)


@pytest.mark.parametrize(("sql", "fragment"), REFUSED, ids=[sql[:60] for sql, _ in REFUSED])
def test_what_leaks_is_refused_with_its_place(
    spark_engine: SparkEngine, sql: str, fragment: str | None
) -> None:
    with pytest.raises(QueryRefused) as caught:
        check(spark_engine, sql)
    if fragment is not None:
        place = caught.value.extras["place"]
        assert place["fragment"] == fragment
        assert sql[place["offset"] :].startswith(fragment)
        assert sql.split("\n")[place["line"] - 1][place["column"] - 1 :].startswith(fragment.split("\n")[0])


@pytest.mark.parametrize("sql", ALLOWED)
def test_ordinary_queries_pass(spark_engine: SparkEngine, sql: str) -> None:
    check(spark_engine, sql)


@pytest.mark.parametrize(
    ("sql", "fragment"),
    [
        ("select id,\n  nme from input", "nme"),
        ("select id frm input where", "input"),
        ("select sum(name from input", "from"),
        ("selct 1", "selct"),
        ("select 1; select 2", "select"),
    ],
)
def test_what_cannot_be_understood_names_its_place(
    spark_engine: SparkEngine, sql: str, fragment: str
) -> None:
    with pytest.raises(QueryInvalid) as caught:
        check(spark_engine, sql)
    assert caught.value.extras["place"]["fragment"] == fragment
    assert "\n" not in caught.value.message
    assert "; `select * from" in caught.value.message or "look for a misspelt word" in caught.value.message
