"""Where somebody moves who "moves to" something: another town, another firm, another tool.

Elsewhere a capital is enough to know a name. Of "we moved to Munich" and "we moved to Kafka" only
the name tells which one says where somebody lives. Names are English and in lower case.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from recollect.text.claim_translations import COMPANIES, PLACES, by_chinese
from recollect.text.signal_patterns import word_set

_MORE: Final = """
    aberdeen, accra, adelaide, amman, ankara, antwerp, argentina, arizona, atlanta, auckland,
    austin, austria, baltimore, bangalore, basel, beirut, belfast, belgium, belgrade, bergen,
    bern, birmingham, bologna, bolzano, bonn, bordeaux, bremen, brighton, brisbane, bristol,
    brno, bruges, bucharest, buenos aires, bulgaria, calgary, california, cambridge, canberra,
    cape town, cardiff, chennai, chile, cologne, colombia, colorado, cork, croatia, cyprus,
    czech republic, dallas, delhi, denver, detroit, dortmund, dresden, durham, edmonton,
    eindhoven, england, estonia, europe, florence, florida, gdansk, genoa, georgia, ghent,
    glasgow, gothenburg, graz, greece, grenoble, groningen, halifax, hamburg, hannover, hanoi,
    hawaii, heidelberg, hong kong, houston, hungary, hyderabad, iceland, indonesia, innsbruck,
    ireland, israel, istanbul, jakarta, jerusalem, johannesburg, karachi, karlsruhe, kenya,
    kiel, kiev, kobe, krakow, kuala lumpur, kyiv, lagos, lahore, las vegas, lausanne, leeds,
    leicester, leiden, leipzig, lille, lima, linz, liverpool, ljubljana, los angeles,
    luxembourg, lviv, macau, maine, mainz, malaysia, malmo, manchester, manila, mannheim,
    marseille, massachusetts, melbourne, mexico city, miami, michigan, minneapolis, minnesota,
    montana, montpellier, morocco, munster, nairobi, nantes, naples, nashville, nebraska,
    nevada, new delhi, new jersey, new orleans, new york, new york city, new zealand, newcastle,
    nigeria, norwich, nottingham, nuremberg, ohio, oregon, ottawa, oxford, pakistan, palermo,
    pennsylvania, perth, peru, philadelphia, philippines, pittsburgh, poland, portland, potsdam,
    pune, quebec, reykjavik, riga, rio de janeiro, romania, rotterdam, sacramento, salzburg, san
    diego, san francisco, san jose, santiago, sao paulo, scotland, serbia, seville, sheffield,
    slovakia, slovenia, sofia, south africa, southampton, strasbourg, stuttgart, taiwan,
    tallinn, tampa, tel aviv, tennessee, texas, the hague, the netherlands, the uk, the us, the
    usa, toulouse, trieste, tunis, turin, turkey, uk, ukraine, uruguay, usa, utah, utrecht,
    valencia, venice, vermont, vilnius, wales, washington, wellington, wisconsin, wroclaw, york,
    zagreb
"""
_TOOLS: Final = word_set(
    """
    airflow android angular ansible asana azure basecamp bazel bitbucket brave celery chrome
    chromium cloudflare confluence cursor cypress debian discord django docker duckdb edge
    elastic elixir emacs evernote excel express fastapi fedora figma firefox flask flink flutter
    git gitlab gmail go golang gradle grafana grpc hadoop helm heroku hetzner hugo java
    javascript jenkins jest jira kafka keynote kibana kindle kotlin kubernetes laravel linear
    linux mac macos mattermost maven mercurial mongo mongodb mysql neovim netlify next nginx
    node notion obsidian okta outlook phoenix playwright poetry postgres postgresql prometheus
    proton pulumi pytest python pytorch rabbitmq rails react redis redux ruby rust safari
    salesforce scala selenium shopify signal sketch slack snowflake spark splunk spotify spring
    sqlite svelte swift tableau teams telegram tensorflow terraform thunderbird todoist trello
    typescript ubuntu vercel vim vite vue webpack wordpress windows yarn zed zig zoom zotero
    """
)


@cache
def english_places() -> frozenset[str]:
    """Every place that is known."""
    more = (name.strip() for name in " ".join(_MORE.split()).split(","))
    return frozenset((*by_chinese(PLACES).values(), *more))


@cache
def english_companies() -> frozenset[str]:
    """Every firm that is known."""
    return frozenset(by_chinese(COMPANIES).values())


def may_be_a_place(name: str) -> bool:
    """Whether a name that is in no list may be one of a place: no tool, and written like one."""
    return name[:1].isupper() and name[1:].islower() and not is_tool(name)


def is_tool(name: str) -> bool:
    """Whether it is the name of something that people work with."""
    return name.casefold() in _TOOLS
