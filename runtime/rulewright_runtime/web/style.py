"""The look of every page: reports, comparisons and the queue of decisions."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark; --ground: #ffffff; --raised: #f5f6f8; --text: #1b2026; --soft: #59636e;
  --line: #d9dee4; --accent: #0b57d0; --bad: #b3261e; --open: #7d4e00; --good: #17663a;
  --bad-wash: #fbe4e1; --open-wash: #fdf0cf; --good-wash: #e2f3e8; --accent-wash: #e3ecfb; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --raised: #1d2126; --text: #e5e8eb; --soft: #a3acb6;
  --line: #343b43; --accent: #86b4ff; --bad: #ff9d92; --open: #efc36c; --good: #7fd3a0;
  --bad-wash: #4b211e; --open-wash: #43340f; --good-wash: #16392a; --accent-wash: #1f3253; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.55 system-ui, sans-serif; }
main, .bar, footer { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
.bar { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; align-items: baseline; padding-top: 1rem; }
.bar > a { color: var(--text); font-weight: 650; text-decoration: none; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1.1rem; margin: 0; padding: 0; list-style: none; }
nav a { display: inline-block; padding: .25rem 0; }
h1 { font-size: 1.55rem; line-height: 1.25; margin: 1.6rem 0 .4rem; font-weight: 650; text-wrap: balance; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 2.8rem 0 .6rem; font-weight: 650; }
h3 { font-size: 1rem; margin: 1.8rem 0 .4rem; font-weight: 650; }
h1, h2, h3, p, li, td, th, dd, summary, legend { overflow-wrap: anywhere; }
p { max-width: 46rem; margin: .5rem 0; }
a { color: var(--accent); text-underline-offset: .24em; }
a:not(:hover) { text-decoration-thickness: 1px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--ground); padding: .4rem .8rem; z-index: 2; }
.hide { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.soft, caption { color: var(--soft); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9em; }
.card { background: var(--raised); border: 1px solid var(--line); border-radius: .4rem; padding: .9rem 1.1rem;
  margin: 1rem 0; }
ul.queue { list-style: none; padding: 0; }
.mark { font-weight: 650; }
.bad, .FAIL, .REJECTED, .NO_GO, .FAILED { color: var(--bad); }
.good, .PASS, .RESOLVED, .GO, .COMPLETED { color: var(--good); }
.open, .UNCLEAR, .PENDING, .ACKED, .SKIPPED { color: var(--open); }
.NOT_APPLICABLE { color: var(--soft); }
.scroll { position: relative; overflow-x: auto; margin: .4rem 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .3rem; }
th, td { text-align: left; vertical-align: top; padding: .38rem 1.1rem .38rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
thead th { color: var(--soft); font-size: .87rem; white-space: nowrap; }
.n { text-align: right; }
.scroll td, .scroll th { overflow-wrap: normal; }
.scroll .name { overflow-wrap: anywhere; min-width: 11rem; }
details > summary { cursor: pointer; }
pre { overflow-x: auto; background: var(--raised); border: 1px solid var(--line); border-radius: .4rem; padding: .7rem;
  line-height: 1.45; }
pre span { display: block; min-height: 1.2em; }
pre .add { background: var(--good-wash); } pre .del { background: var(--bad-wash); } pre .place { color: var(--soft); }
ol.history { padding-left: 1.4rem; }
form { display: grid; gap: .7rem; max-width: 46rem; }
label, legend { font-weight: 600; }
input, textarea, select { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--soft);
  border-radius: .3rem; padding: .45rem .6rem; max-width: 100%; }
form input:not([type=radio]), textarea { width: 100%; }
textarea { min-height: 5rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .7rem; }
button { font: inherit; font-weight: 600; padding: .5rem 1.1rem; border-radius: .3rem; border: 1px solid currentColor;
  background: var(--ground); color: var(--text); cursor: pointer; }
button.resolve { color: var(--good); } button.reject { color: var(--bad); }
[role=alert] { border: 2px solid var(--bad); border-radius: .4rem; padding: .6rem 1rem; }
[role=status] { border: 2px solid var(--good); border-radius: .4rem; padding: .6rem 1rem; }
footer { color: var(--soft); font-size: .87rem; padding: 3rem 1.25rem 2rem; }
"""
