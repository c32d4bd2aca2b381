"""Strings that would run script, load something or break out of where they stand, if anybody let them.

Each that ran would count in `window.__xss`. They are made of parts, so that every vector meets every way to write it.
"""

from __future__ import annotations

from itertools import product

RUN = "window.__xss=(window.__xss||0)+1"
_ENTITIES = "".join(f"&#{ord(c)};" for c in "javascript:")
_HEX = "".join(f"&#x{ord(c):x};" for c in "javascript:")

_EVENTS = [
    *("onload", "onerror", "onclick", "onmouseover", "onfocus", "onblur", "ontoggle", "onanimationstart", "onbegin"),
    *("onpageshow", "onscroll", "onpointerenter", "oncopy", "onbeforeinput", "ontransitionend"),
]
_TAGS = [
    *("img src=x", "svg", "body", "video src=x", "audio src=x", "details open", "input autofocus", "select autofocus"),
    *("marquee", "iframe src=x", "object data=x", "embed src=x", "math", "a href=#", "div style=animation-name:x"),
]
_SCHEMES = [
    f"javascript:{RUN}",
    f"JaVaScRiPt:{RUN}",
    f" javascript:{RUN}",
    f"java\tscript:{RUN}",
    f"java\nscript:{RUN}",
    f"\x01javascript:{RUN}",
    f"{_ENTITIES}{RUN}",
    f"{_HEX}{RUN}",
    f"javascript&colon;{RUN}",
    f"vbscript:{RUN}",
    f"data:text/html,<script>parent.{RUN}</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    f"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='{RUN}'/>",
    "//evil.example/x.js",
    "https://evil.example/pixel.png",
    "blob:https://evil.example/x",
    "file:///etc/passwd",
    f"javascript://%0a{RUN}",
]
_LINKS = ["[x]({})", "![x]({})", "<{}>", "[x]: {}\n\n[x]", '[x]({} "t")', "<a href='{}'>x</a>", '<img src="{}">']

_SINGLES = [
    f"<script>{RUN}</script>",
    f"<SCRIPT>{RUN}</SCRIPT>",
    f"<scr<script>ipt>{RUN}</scr</script>ipt>",
    f"</script><script>{RUN}</script>",
    f"<script src=data:text/javascript,{RUN}></script>",
    f"<script>{RUN}//",
    f"<svg><script>{RUN}</script></svg>",
    f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror={RUN}&gt;'>",
    f"<form><math><mtext></form><form><mglyph><style></math><img src=x onerror={RUN}>",
    f"<svg></p><style><a id='</style><img src=x onerror={RUN}>'>",
    f"<noscript><p title='</noscript><img src=x onerror={RUN}>'>",
    f"<template><img src=x onerror={RUN}></template>",
    f"<textarea></textarea><img src=x onerror={RUN}>",
    f"<title></title><img src=x onerror={RUN}>",
    f"<xmp></xmp><img src=x onerror={RUN}>",
    f"<style>@import 'https://evil.example/x.css';</style>",  # noqa: F541
    "<style>body{display:none}</style>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    f"<meta http-equiv=refresh content='0;url=javascript:{RUN}'>",
    "<base href=https://evil.example/>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<form action='javascript:{RUN}'><button>x</button></form>",
    f"<button formaction='javascript:{RUN}'>x</button>",
    f"<isindex action='javascript:{RUN}'>",
    f"<a xlink:href='javascript:{RUN}'>x</a>",
    f"<svg><a xlink:href='javascript:{RUN}'><text>x</text></a></svg>",
    f"<svg><animate onbegin='{RUN}' attributeName=x dur=1s>",
    f"<svg><use href='data:image/svg+xml,<svg id=x onload={RUN}/>#x'/></svg>",
    f"<svg><foreignObject><img src=x onerror={RUN}></foreignObject></svg>",
    f'"><img src=x onerror={RUN}>',
    f"'><img src=x onerror={RUN}>",
    f"` onmouseover={RUN} x=`",
    f'" onfocus={RUN} autofocus tabindex=1 x="',
    f"' style='animation-name:x' onanimationstart='{RUN}",
    f"]]><img src=x onerror={RUN}>",
    f"--><img src=x onerror={RUN}><!--",
    f"<!--><img src=x onerror={RUN}>-->",
    f"<![CDATA[><img src=x onerror={RUN}>]]>",
    f"<?xml version='1.0'?><img src=x onerror={RUN}>",
    f"<<img src=x onerror={RUN}>",
    f"<img/src=x/onerror={RUN}>",
    f"<img\tsrc=x\nonerror\n=\n{RUN}>",
    f"<img src=x onerror\x00={RUN}>",
    f"<img src='x' onerror='{RUN}'",
    f"\u202e<img src=x onerror={RUN}>\u202c",
    f"\ufeff<img src=x onerror={RUN}>",
    f"&lt;img src=x onerror={RUN}&gt;",
    f"&amp;lt;img src=x onerror={RUN}&amp;gt;",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"${{{RUN}}}",
    f'```"><img src=x onerror={RUN}>\ncode\n```',
    f"```html\n<img src=x onerror={RUN}>\n```",
    f"`<img src=x onerror={RUN}>`",
    f"|a|b|\n|-|-|\n|<img src=x onerror={RUN}>|x|",
    f"# <img src=x onerror={RUN}>",
    f"- <img src=x onerror={RUN}>",
    f"> <img src=x onerror={RUN}>",
    f"<img name=body src=x><form id=attributes><input name=nodeName>{RUN}</form>",
    "<img id=document name=cookie src=https://evil.example/x.png>",
    f"<div style=\"background:url('javascript:{RUN}')\">x</div>",
    "<div style='position:fixed;inset:0;z-index:99999'>covered</div>",
    "<img srcset='https://evil.example/a.png 1x'>",
    "<picture><source srcset=https://evil.example/b.png><img></picture>",
    "<video poster=https://evil.example/c.png></video>",
    "<table background=https://evil.example/d.png><tr><td>x</td></tr></table>",
]

CORPUS = [
    *_SINGLES,
    *(f"<{tag} {event}={RUN}>" for tag, event in product(_TAGS, _EVENTS)),
    *(link.format(scheme) for link, scheme in product(_LINKS, _SCHEMES)),
]
