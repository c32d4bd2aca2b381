/** Owns how a desk looks. Lab's colours where there are some; otherwise those of the page, light or dark. */

export const STYLE = `
.jupyter-applet-desk{display:flex;flex-direction:column;box-sizing:border-box;min-height:120px;border:1px solid var(--jp-border-color2,#8884);border-radius:2px;background:var(--jp-layout-color1,transparent);color:var(--jp-ui-font-color1,inherit);font:13px/1.5 var(--jp-ui-font-family,system-ui,sans-serif)}
.jupyter-applet-tabs{flex:none;display:flex;overflow-x:auto;scrollbar-width:thin;background:var(--jp-layout-color2,#8881);border-bottom:1px solid var(--jp-border-color2,#8884)}
.jupyter-applet-tabs:empty{display:none}
.jupyter-applet-tab{flex:0 1 auto;display:flex;align-items:center;min-width:9em;max-width:16em;border-right:1px solid var(--jp-border-color2,#8884);border-top:2px solid transparent}
.jupyter-applet-tab[data-selected]{background:var(--jp-layout-color1,Canvas);border-top-color:var(--jp-brand-color1,#1976d2)}
.jupyter-applet-tab button{font:inherit;color:inherit;background:none;border:0;cursor:pointer}
.jupyter-applet-tab [role=tab]{flex:1 1 auto;min-width:0;padding:4px 2px 4px 10px;text-align:left;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.jupyter-applet-tab [role=tab]::before{content:"";display:inline-block;width:6px;height:6px;margin-right:6px;border-radius:50%;vertical-align:middle;background:var(--jp-border-color1,#8886)}
.jupyter-applet-tab[data-ready] [role=tab]::before{background:var(--jp-success-color1,#388e3c)}
.jupyter-applet-tab [role=tab]+button{flex:none;padding:0 8px;opacity:.6}
.jupyter-applet-tab button:hover{opacity:1}
.jupyter-applet-desk button:focus-visible{outline:2px solid var(--jp-brand-color1,#1976d2);outline-offset:-2px}
.jupyter-applet-tab[data-flash]{animation:jupyter-applet-flash 1s}
@keyframes jupyter-applet-flash{from{background:var(--jp-brand-color2,#64b5f6)}}
@media (prefers-reduced-motion:reduce){.jupyter-applet-tab[data-flash]{animation-duration:1ms}}
.jupyter-applet-panel{flex:1 1 0;min-height:0;overflow:auto}
.jupyter-applet-panel[hidden]{display:none}
.jupyter-applet-panel>.jupyter-applet{display:flex;flex-direction:column;min-height:100%!important;height:100%}
.jupyter-applet-panel>.jupyter-applet>iframe{flex:1 1 0;min-height:80px;height:auto!important}
.jupyter-applet-desk-note{margin:auto;padding:16px;max-width:36em;text-align:center;color:var(--jp-ui-font-color2,#757575)}
.jupyter-applet-desk-note.jupyter-applet-wait{opacity:0;animation:jupyter-applet-desk-show .2s .3s forwards}
@keyframes jupyter-applet-desk-show{to{opacity:1}}
.jupyter-applet-desk-note[role=alert]{color:var(--jp-error-color1,#d32f2f)}
`;
