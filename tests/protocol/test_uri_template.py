"""URI templates: expansion by RFC 6570, and matching in which no value leaves its place."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocol.uri import DEVICE, escapes_root
from assay.protocol.uri_template import InvalidTemplate, UnsafeVariable, UriTemplate, Value

VALUES: dict[str, Value] = {
    "count": ["one", "two", "three"],
    "dom": ["example", "com"],
    "dub": "me/too",
    "hello": "Hello World!",
    "half": "50%",
    "var": "value",
    "who": "fred",
    "base": "http://example.com/home/",
    "path": "/foo/bar",
    "list": ["red", "green", "blue"],
    "keys": {"semi": ";", "dot": ".", "comma": ","},
    "v": "6",
    "x": "1024",
    "y": "768",
    "empty": "",
    "empty_keys": {},
    "no_items": [],
}

# RFC 6570, 3.2.1 to 3.2.9, without the rows that repeat a variable, which is refused here.
EXPANSIONS = {
    "{count}": "one,two,three",
    "{count*}": "one,two,three",
    "{/count}": "/one,two,three",
    "{/count*}": "/one/two/three",
    "{;count}": ";count=one,two,three",
    "{;count*}": ";count=one;count=two;count=three",
    "{?count}": "?count=one,two,three",
    "{?count*}": "?count=one&count=two&count=three",
    "{&count*}": "&count=one&count=two&count=three",
    "{var}": "value",
    "{hello}": "Hello%20World%21",
    "{half}": "50%25",
    "O{empty}X": "OX",
    "O{undef}X": "OX",
    "{x,y}": "1024,768",
    "{x,hello,y}": "1024,Hello%20World%21,768",
    "?{x,empty}": "?1024,",
    "?{x,undef}": "?1024",
    "?{undef,y}": "?768",
    "{var:3}": "val",
    "{var:30}": "value",
    "{list}": "red,green,blue",
    "{list*}": "red,green,blue",
    "{keys}": "semi,%3B,dot,.,comma,%2C",
    "{keys*}": "semi=%3B,dot=.,comma=%2C",
    "{+var}": "value",
    "{+hello}": "Hello%20World!",
    "{+half}": "50%25",
    "{base}index": "http%3A%2F%2Fexample.com%2Fhome%2Findex",
    "{+base}index": "http://example.com/home/index",
    "O{+empty}X": "OX",
    "O{+undef}X": "OX",
    "{+path}/here": "/foo/bar/here",
    "here?ref={+path}": "here?ref=/foo/bar",
    "up{+path}{var}/here": "up/foo/barvalue/here",
    "{+x,hello,y}": "1024,Hello%20World!,768",
    "{+path,x}/here": "/foo/bar,1024/here",
    "{+path:6}/here": "/foo/b/here",
    "{+list}": "red,green,blue",
    "{+list*}": "red,green,blue",
    "{+keys}": "semi,;,dot,.,comma,,",
    "{+keys*}": "semi=;,dot=.,comma=,",
    "{#var}": "#value",
    "{#hello}": "#Hello%20World!",
    "{#half}": "#50%25",
    "foo{#empty}": "foo#",
    "foo{#undef}": "foo",
    "{#x,hello,y}": "#1024,Hello%20World!,768",
    "{#path,x}/here": "#/foo/bar,1024/here",
    "{#path:6}/here": "#/foo/b/here",
    "{#list*}": "#red,green,blue",
    "{#keys}": "#semi,;,dot,.,comma,,",
    "{#keys*}": "#semi=;,dot=.,comma=,",
    "{.who}": ".fred",
    "{.half,who}": ".50%25.fred",
    "www{.dom*}": "www.example.com",
    "X{.var}": "X.value",
    "X{.empty}": "X.",
    "X{.undef}": "X",
    "X{.var:3}": "X.val",
    "X{.list}": "X.red,green,blue",
    "X{.list*}": "X.red.green.blue",
    "X{.keys}": "X.semi,%3B,dot,.,comma,%2C",
    "X{.keys*}": "X.semi=%3B.dot=..comma=%2C",
    "X{.empty_keys}": "X",
    "X{.empty_keys*}": "X",
    "X{.no_items}": "X",
    "X{.no_items*}": "X",
    "{/who}": "/fred",
    "{/half,who}": "/50%25/fred",
    "{/who,dub}": "/fred/me%2Ftoo",
    "{/var,empty}": "/value/",
    "{/var,undef}": "/value",
    "{/var,x}/here": "/value/1024/here",
    "{/list}": "/red,green,blue",
    "{/list*}": "/red/green/blue",
    "{/list*,path:4}": "/red/green/blue/%2Ffoo",
    "{/keys}": "/semi,%3B,dot,.,comma,%2C",
    "{/keys*}": "/semi=%3B/dot=./comma=%2C",
    "{;who}": ";who=fred",
    "{;half}": ";half=50%25",
    "{;empty}": ";empty",
    "{;v,empty,who}": ";v=6;empty;who=fred",
    "{;v,undef,who}": ";v=6;who=fred",
    "{;hello:5}": ";hello=Hello",
    "{;list}": ";list=red,green,blue",
    "{;list*}": ";list=red;list=green;list=blue",
    "{;keys}": ";keys=semi,%3B,dot,.,comma,%2C",
    "{;keys*}": ";semi=%3B;dot=.;comma=%2C",
    "{?who}": "?who=fred",
    "{?x,y,empty}": "?x=1024&y=768&empty=",
    "{?x,y,undef}": "?x=1024&y=768",
    "{?var:3}": "?var=val",
    "{?list}": "?list=red,green,blue",
    "{?list*}": "?list=red&list=green&list=blue",
    "{?keys}": "?keys=semi,%3B,dot,.,comma,%2C",
    "{?keys*}": "?semi=%3B&dot=.&comma=%2C",
    "{&who}": "&who=fred",
    "?fixed=yes{&x}": "?fixed=yes&x=1024",
    "{&x,y,empty}": "&x=1024&y=768&empty=",
    "{&var:3}": "&var=val",
    "{&keys*}": "&semi=%3B&dot=.&comma=%2C",
    "caf\u00e9/%20/{var}": "caf%C3%A9/%20/value",
}

MATCHES: list[tuple[str, str, dict[str, str] | None]] = [
    ("note://{id}", "note://7", {"id": "7"}),
    ("note://{id}", "note://a%20b", {"id": "a b"}),
    ("note://{id}", "note://10:30@home", {"id": "10:30@home"}),
    ("note://{id}", "note://a..b", {"id": "a..b"}),
    ("note://{id}", "note://%252e%252e", {"id": "%2e%2e"}),
    ("note://{id}", "note://", None),
    ("note://{id}", "note://a/b", None),
    ("note://{id}", "other://7", None),
    ("note://{id}", "note://a b", None),
    ("note://{id}", "note://a%2", None),
    ("note://{id}", "note://%ff", None),
    ("note://{id}", "note://%c0%ae", None),
    ("note://{id}", "note://7\n", None),
    ("note://{id:3}", "note://abc", {"id": "abc"}),
    ("note://{id:3}", "note://abcd", None),
    ("a://{x}2{y}", "a://%2Fab2c", None),
    ("a://{name}.txt", "a://b.txt.txt", {"name": "b.txt"}),
    ("a://{name}.txt", "a://.txt", None),
    ("a://{x}-{y}", "a://-1-2-3", {"x": "-1", "y": "2-3"}),
    ("a://{x}{y}", "a://12", None),
    ("a://{x,y}", "a://1,2", {"x": "1", "y": "2"}),
    ("a://{x,y}", "a://1", {"x": "1"}),
    ("a://{list*}", "a://1,2", {"list": "1,2"}),
    ("a://{x}{.ext}", "a://b.tar.gz", {"x": "b", "ext": "tar.gz"}),
    ("a://{x}{.ext}", "a://b", {"x": "b"}),
    ("a://{x}{;v}", "a://b;v=1", {"x": "b", "v": "1"}),
    ("a://b{;v,w}", "a://b;w;v=1", {"w": "", "v": "1"}),
    ("a://b{;v*}", "a://b;v=1;v=2", {"v": "1,2"}),
    ("a://b{.dom*}", "a://b.x.y", {"dom": "x.y"}),
    ("a://{+path}", "a://b/c%2Fd", {"path": "b/c/d"}),
    ("a://{+path}/{id}", "a://b/c/d", {"path": "b/c", "id": "d"}),
    ("a://{+path}/at/{id}", "a://b/at/c/at/7", {"path": "b/at/c", "id": "7"}),
    ("a://{+path}.{ext}", "a://v1.2/x.y.md", {"path": "v1.2/x.y", "ext": "md"}),
    ("a://{+path}{.ext}", "a://v1.2/x.md", {"path": "v1.2/x", "ext": "md"}),
    ("a://{+path}{?q}", "a://b/c?q=1.5", {"path": "b/c", "q": "1.5"}),
    ("a://{+path}.{ext}{?q}", "a://b.c?q=1.5", {"path": "b", "ext": "c", "q": "1.5"}),
    ("a://{+path}.{ext}?v={v}", "a://b.c?v=1.5", {"path": "b", "ext": "c", "v": "1.5"}),
    ("a://{+one}/{+two}", "a://b/c/d", {"one": "b", "two": "c/d"}),
    ("a://b{/x}/edit", "a://b/edit", {}),
    ("a://b{/x}/edit", "a://b/edit/edit", {"x": "edit"}),
    ("a://b{/x}{/y}", "a://b/1/2", {"x": "1", "y": "2"}),
    ("a://b{/x,y}", "a://b/1/2", {"x": "1", "y": "2"}),
    ("a://b{/x,y}", "a://b", {}),
    ("a://b{/rest*}/edit", "a://b/1/2/edit", {"rest": "1/2"}),
    ("a://b{#part}", "a://b#x/y?", {"part": "x/y?"}),
    ("a://b{#part}", "a://b", {}),
    ("a://b{?x,y}", "a://b?y=2&x=1", {"x": "1", "y": "2"}),
    ("a://b{?x,y}", "a://b", {}),
    ("a://b{?x,y}", "a://b?y=2", {"y": "2"}),
    ("a://b{?x}{&y}", "a://b?y=2&x=1", {"x": "1", "y": "2"}),
    ("a://b{?x}{&y}", "a://b?x=https%3A%2F%2Fc", {"x": "https://c"}),
    ("a://b{?x*}", "a://b?x=1&x=2", {"x": "1,2"}),
    ("a://b{?x}", "a://b?x=", {"x": ""}),
    ("a://b{?x}", "a://b?x=1&x=2", None),
    ("a://b{?x}", "a://b?z=1", None),
    ("a://b{?x}", "a://b?", None),
    ("a://b?fixed=yes{&x}", "a://b?fixed=yes&x=1", {"x": "1"}),
    ("a://b?fixed=yes{&x}", "a://b?fixed=yes", {}),
    ("a://b?q={q}&n={n}", "a://b?q=1&n=2", {"q": "1", "n": "2"}),
    ("a://b?q={q}{&n}", "a://b?q=1&n=2", {"q": "1", "n": "2"}),
    ("a://b", "a://b", {}),
    ("a://{b}", "a://10:30", {"b": "10:30"}),
    ("a://{b}", "a://console", {"b": "console"}),
    ("a://{b}", "a://aux-cable", {"b": "aux-cable"}),
    ("a://{b}", "a://1:x", {"b": "1:x"}),
    ("a://{+b}", "a://acon/nulls", {"b": "acon/nulls"}),
    ("a://b{?q}", "a://b?q=con", {"q": "con"}),
]

UNSAFE = [
    ("note://{id}", ".", "."),
    ("note://{id}", "..", "%2e%2E"),
    ("note://{id}", "a/b", "a%2Fb"),
    ("note://{id}", "../b", "..%2fb"),
    ("note://{id}", "a\\b", "a%5Cb"),
    ("note://{id}", "a\0", "a%00"),
    ("note://{id}", "a\n", "a%0A"),
    ("note://{id}", "a\x85", "a%C2%85"),
    ("note://{id:2}", "..", ".."),
    ("note://{id*}", "a,..", "a,.."),
    ("note://{+id}", "../a", "../a"),
    ("note://{+id}", "a/../b", "a/%2e./b"),
    ("note://{+id}", "a/..", "a/.."),
    ("note://{+id}", "/etc/passwd", "/etc/passwd"),
    ("note://{+id}", "/etc/passwd", "%2Fetc/passwd"),
    ("note://{+id}", "a//b", "a//b"),
    ("note://{+id}", "a//b", "a/%2Fb"),
    ("note://{+id}", "C:/x", "C:/x"),
    ("note://{id}", "C:", "C:"),
    ("note://{id}", "c:x", "c%3Ax"),
    ("note://{+id}", "C:x/y", "C:x/y"),
    ("note://{id}", "\\\\?\\C:\\x", "%5C%5C?%5CC:%5Cx".replace("?", "%3F")),
    ("note://{id}", "CON", "CON"),
    ("note://{id}", "nul.txt", "nul.txt"),
    ("note://{id}", "COM¹", "COM%C2%B9"),
    ("note://{+id}", "a/aux/b", "a/aux/b"),
    ("note://{+id}", "a/LPT1:", "a/LPT1:"),
    ("note://x{/id*}", "a/prn", "/a/prn"),
    ("note://x{?id}", "c:x", "?id=c:x"),
    ("note://x{/id*}", "a/../b", "/a/../b"),
    ("note://x{/id*}", "/etc", "//etc"),
    ("note://x{/id*}", "a/b", "/a%2Fb"),
    ("note://x{/id}", "..", "/.."),
    ("note://x{.id}", ".", ".."),
    ("note://x{;id}", "..", ";id=.."),
    ("note://x{?id}", "..", "?id=.."),
    ("note://x{?id}", "a/../b", "?id=a/../b"),
    ("note://x{?id}", "/etc", "?id=%2Fetc"),
    ("note://x{?id*}", "a,..", "?id=a&id=.."),
    ("note://x{#id}", "/etc", "#/etc"),
]

MALFORMED = [
    ("note://{id", "unclosed expression", 7),
    ("note://id}", "character not allowed outside an expression: '}'", 9),
    ("note://a b", "character not allowed outside an expression: ' '", 8),
    ("note://%2", "character not allowed outside an expression: '%'", 7),
    ("{id}%2", "character not allowed outside an expression: '%'", 4),
    ("note://{}", "malformed variable: ''", 8),
    ("note://{a,}", "malformed variable: ''", 10),
    ("note://{?}", "malformed variable: ''", 9),
    ("note://{a-b}", "malformed variable: 'a-b'", 8),
    ("note://{a,{b}}", "malformed variable: '{b'", 10),
    ("note://{=a}", "malformed variable: '=a'", 8),
    ("note://{a:0}", "malformed variable: 'a:0'", 8),
    ("note://{a:10000}", "malformed variable: 'a:10000'", 8),
    ("note://{a:3*}", "malformed variable: 'a:3*'", 8),
    ("note://{a..b}", "malformed variable: 'a..b'", 8),
    ("note://{\u00e9}", "malformed variable: '\u00e9'", 8),
    ("note://{a}/{a}", "repeated variable: a", 12),
    ("note://{a,b,a}", "repeated variable: a", 12),
]

# Each pattern with input that makes a backtracking matcher try all divisions.
ADVERSARIAL = [
    ("{a}{b}{c}{d}!", "x"),
    ("{a}-{b}-{c}-{d}-{e}!/", "-"),
    ("{a}.txt!/", ".txt"),
    ("{+a}{b}{+c}!/{d}?", "a"),
    ("{+a}/{b}/{c}!?", "/"),
    ("{+a}/{b}!?", "/x"),
    ("{+a}.{b}!?", "."),
    ("{+a}a{b}b{c}!?", "ab"),
    ("{+a}{.b}{.c}{.d}!?", "."),
    ("{+a}/{+b}/{+c}/{d}?", "/x"),
    ("x{/a*}/{b}{.c}!?", "/x.y"),
    ("x{/a*}{/b*}{/c}{/d}!?", "/x"),
    ("{a*}{b*},{c}!/", ","),
    ("x{;a*}{;b*}!/", ";a=1"),
    ("x{?a*}&b=1{&c*}!#", "&a=1"),
    ("x{#a}/{b}!", "/"),
]

NAMES = st.text("abcXYZ09_", min_size=1, max_size=5)
# Values of a simple variable: any text without the separators, dots and controls that are refused.
SAFE = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="/\\."),
    min_size=1,
    max_size=20,
).filter(lambda text: not escapes_root(text) and re.search(DEVICE, text) is None)


@pytest.mark.parametrize(("template", "expanded"), EXPANSIONS.items(), ids=list(EXPANSIONS))
def test_expansion_follows_the_rfc(template: str, expanded: str) -> None:
    assert UriTemplate(template).expand(VALUES) == expanded


def test_reserved_expansion_lets_percent_triplets_pass() -> None:
    assert UriTemplate("{+a}").expand({"a": "%41%zz"}) == "%41%25zz"
    assert UriTemplate("{a}").expand({"a": "%41"}) == "%2541"


def test_named_pairs_without_value_follow_their_operator() -> None:
    assert UriTemplate("{?m*}").expand({"m": {"a": "", "b": "1"}}) == "?a=&b=1"
    assert UriTemplate("{;m*}").expand({"m": {"a": "", "b": "1"}}) == ";a;b=1"


def test_prefix_of_a_list_is_refused() -> None:
    with pytest.raises(ValueError, match="var"):
        UriTemplate("{var:3}").expand({"var": ["a", "b"]})


@pytest.mark.parametrize(("template", "uri", "values"), MATCHES)
def test_match_gives_the_decoded_values(template: str, uri: str, values: dict[str, str] | None) -> None:
    assert UriTemplate(template).match(uri) == values


@pytest.mark.parametrize(("template", "value", "written"), UNSAFE)
def test_value_that_leaves_its_place_is_unsafe(template: str, value: str, written: str) -> None:
    uri = template[: template.index("{")] + written
    with pytest.raises(UnsafeVariable) as caught:
        UriTemplate(template).match(uri)
    assert caught.value.name == "id", value
    assert str(caught.value) == "unsafe value for a URI template variable: id"


def test_uri_that_does_not_fit_is_no_match_even_with_an_unsafe_value() -> None:
    """Another template may match it, so only a match can be an error."""
    assert UriTemplate("note://{id}{?x}").match("note://..?z=1") is None


@pytest.mark.parametrize(("text", "reason", "position"), MALFORMED)
def test_malformed_template_says_what_and_where(text: str, reason: str, position: int) -> None:
    with pytest.raises(InvalidTemplate) as caught:
        UriTemplate(text)
    assert (caught.value.text, caught.value.reason, caught.value.position) == (text, reason, position)
    assert str(caught.value) == f"not a URI template ({reason} at character {position}): {text!r}"


def test_template_keeps_its_text_and_names_in_order() -> None:
    template = UriTemplate("a://{b}/{+a.c}{?z*,y:3}{&w%41}")
    assert template.text == "a://{b}/{+a.c}{?z*,y:3}{&w%41}"
    assert template.variables == ("b", "a.c", "z", "y", "w%41")
    assert UriTemplate("a://b").variables == ()


@pytest.mark.parametrize(("template", "unit"), ADVERSARIAL)
def test_hostile_input_is_refused_in_one_pass(template: str, unit: str) -> None:
    """Quadratic time would take minutes, and the test would fail by its timeout."""
    assert UriTemplate(template).match("x" + unit * (300_000 // len(unit))) is None


@given(names=st.lists(NAMES, min_size=1, max_size=4, unique=True), data=st.data())
def test_simple_values_come_back_from_their_expansion(names: list[str], data: st.DataObject) -> None:
    values = {name: data.draw(SAFE) for name in names}
    template = UriTemplate("note://" + "/".join(f"{{{name}}}" for name in names) + "/end")
    assert template.match(template.expand(values)) == values


@given(first=SAFE, second=SAFE, query=SAFE)
def test_values_of_other_operators_come_back_too(first: str, second: str, query: str) -> None:
    template = UriTemplate("note:/{/a}{.b}{?c}")
    values = {"a": first, "b": second, "c": query}
    assert template.match(template.expand(values)) == values


@given(st.text("{}+#./;?&*:,%ab1 ", max_size=20))
def test_any_text_is_a_template_or_refused_and_nothing_else(text: str) -> None:
    try:
        template = UriTemplate(text)
    except InvalidTemplate as error:
        assert 0 <= error.position <= len(text)
    else:
        template.expand({name: "x" for name in template.variables})


@given(template=st.sampled_from([row[0] for row in MATCHES]), tail=st.text("/.%2e5cFf\\?&=x#;,", max_size=12))
def test_no_match_ever_holds_a_climbing_value(template: str, tail: str) -> None:
    try:
        values = UriTemplate(template).match(template[: template.find("{")] + tail)
    except UnsafeVariable:
        return
    for value in (values or {}).values():
        assert ".." not in value.split("/")
        assert "\\" not in value
        assert not value.startswith("/")
