"""Text without its marks: Markdown, HTML, Hugo's shortcodes, reStructuredText."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TOOLTIP = re.compile(r"\{\{[<%][^{}]*?text=[\"“]([^\"”]*)[\"”][^{}]*[>%]\}\}")
_MDN = re.compile(r"\{\{\s*\w+\(\s*[\"']([^\"']*)[\"'][^{}]*\)\s*\}\}")
_BRACES = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{[#:.][^{}]*\}", re.DOTALL)
_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)|~~|`+)")
_ENTITY = {"&nbsp;": " ", "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&#39;": "'"}
_ROLE = re.compile(r":[\w:+-]+:`~?!?([^`<]*?)(?:\s*<[^`>]*>)?`")
_REFERENCE = re.compile(r"`([^`<]*?)\s*<[^`>]*>`_{0,2}|`([^`]*)`_{0,2}")
_SUBSTITUTION = re.compile(r"\|(\w+)\|")


def plain_markdown(text: str) -> str:
    """Return one block's words, with the words of links and tooltips."""
    text = _COMMENT.sub(" ", text)
    text = _MDN.sub(r"\1", _TOOLTIP.sub(r"\1", text))
    text = _IMAGE.sub(" ", _BRACES.sub(" ", text))
    text = _TAG.sub(" ", _LINK.sub(r"\1", _LINK.sub(r"\1", text)))
    text = _EMPHASIS.sub("", text)
    for entity, character in _ENTITY.items():
        text = text.replace(entity, character)
    return " ".join(text.split())


def plain_rst(text: str) -> str:
    """Return a sentence of reStructuredText without roles, references and literals' marks."""
    text = _ROLE.sub(r"\1", text.replace("\\ ", ""))
    text = _REFERENCE.sub(lambda found: found[1] or found[2] or "", text)
    text = _SUBSTITUTION.sub(r"\1", text).replace("``", "").replace("::", ":")
    return " ".join(_EMPHASIS.sub("", text).split())
