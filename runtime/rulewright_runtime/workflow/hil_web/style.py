"""The look of the reviewer's page."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5a6372; --paper: #fbfaf7; --card: #ffffff; --line: #d9d6ce;
  --go: #1a6b3c; --stop: #a32020; --wait: #7a4b00; --accent: #1d4f91; --add: #e3f3e6; --del: #fbe6e4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e1; --soft: #a9b0bb; --paper: #15181d; --card: #1e2229;
  --line: #3a404a; --go: #7fd6a0; --stop: #ff9c94; --wait: #f0c070; --accent: #9cc4ff; --add: #17361f;
  --del: #421e1c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main, header, footer { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1.5rem; }
header a { color: var(--soft); text-decoration: none; font-weight: 600; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .6rem 0 .4rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
p { max-width: 44rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .4rem .8rem; }
.soft { color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.25rem;
  margin: 1rem 0; }
ul.queue { list-style: none; padding: 0; }
.mark { display: inline-block; border: 1px solid currentColor; border-radius: 1rem; padding: 0 .6rem; font-size: .82rem;
  font-weight: 600; }
.PASS, .RESOLVED, .GO, .COMPLETED { color: var(--go); } .FAIL, .REJECTED, .NO_GO, .FAILED { color: var(--stop); }
.PENDING, .ACKED, .SKIPPED { color: var(--wait); }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .7rem .4rem 0; border-top: 1px solid var(--line); }
th { font-weight: 600; }
td, li { overflow-wrap: anywhere; }
pre { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .4rem; padding: .7rem;
  font: .85rem/1.45 ui-monospace, monospace; }
pre span { display: block; min-height: 1.2em; }
pre .add { background: var(--add); } pre .del { background: var(--del); } pre .place { color: var(--soft); }
ol.history { padding-left: 1.4rem; }
form { display: grid; gap: .7rem; max-width: 44rem; }
label { font-weight: 600; }
input, textarea { width: 100%; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--soft);
  border-radius: .4rem; padding: .5rem .6rem; }
textarea { min-height: 6rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .7rem; }
button { font: inherit; font-weight: 600; padding: .55rem 1.2rem; border-radius: .4rem; border: 2px solid currentColor;
  background: var(--card); color: var(--ink); cursor: pointer; }
button.resolve { color: var(--go); } button.reject { color: var(--stop); }
[role=alert] { border: 2px solid var(--stop); border-radius: .5rem; padding: .6rem 1rem; }
[role=status] { border: 2px solid var(--go); border-radius: .5rem; padding: .6rem 1rem; }
footer { color: var(--soft); font-size: .85rem; padding: 2rem 1.25rem; }
"""
