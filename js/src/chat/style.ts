/** Owns how a chat looks. Lab's colours where there are some; otherwise those of the page, light or dark. All below one class. */

/** What the contrast of text depends on; the tests compute it. */
export const COLOURS = {
  user: { from: '#1565c0', to: '#1565c0', text: '#ffffff', label: 1 },
  applet: { from: '#e65c00', to: '#f09819', text: '#140800', label: 0.92 },
  agent: { from: '#5e35b1', to: '#7e57c2', text: '#ffffff', label: 0.95 },
};

const { user, applet, agent } = COLOURS;

const LOOK = `
.jupyter-applet-chat{--jac-line:var(--jp-border-color2,#8884);--jac-soft:var(--jp-layout-color2,#8881);--jac-dim:var(--jp-ui-font-color2,color-mix(in srgb,currentcolor 68%,transparent));--jac-brand:var(--jp-brand-color1,light-dark(#1976d2,#64b5f6));--jac-bad:var(--jp-error-color1,light-dark(#d32f2f,#ef9a9a));--jac-mono:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace);position:relative;display:flex;flex-direction:column;box-sizing:border-box;min-height:200px;overflow:hidden;border:1px solid var(--jac-line);border-radius:6px;background:var(--jp-layout-color1,transparent);color:var(--jp-ui-font-color1,inherit);font:14px/1.5 var(--jp-ui-font-family,system-ui,sans-serif)}
.jupyter-applet-chat *,.jupyter-applet-chat ::before{box-sizing:border-box}
.jupyter-applet-chat button{font:inherit;color:inherit;background:none;border:0;margin:0;padding:0;cursor:pointer}
.jupyter-applet-chat :focus-visible{outline:2px solid var(--jac-brand);outline-offset:1px}
.jupyter-applet-chat .jac-hidden{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.jupyter-applet-chat .jac-link{color:var(--jp-content-link-color,var(--jac-brand));text-decoration:underline;text-underline-offset:2px}
.jupyter-applet-chat .jac-head{flex:none;display:flex;align-items:center;gap:8px;padding:6px 14px;font-size:13px;border-bottom:1px solid var(--jac-line);background:var(--jac-soft)}
.jupyter-applet-chat .jac-agent{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.jupyter-applet-chat .jac-dot{flex:none;width:8px;height:8px;border-radius:50%;background:var(--jp-border-color1,#8888)}
.jupyter-applet-chat .jac-dot.jac-on{background:var(--jp-success-color1,#388e3c)}
.jupyter-applet-chat .jac-notice{flex:none;display:flex;gap:10px;padding:6px 14px;font-size:13px;border-bottom:1px solid var(--jac-line);color:var(--jac-dim)}
.jupyter-applet-chat .jac-notice.jac-alert{color:var(--jac-bad)}
.jupyter-applet-chat .jac-welcome{flex:1 1 0;display:grid;place-content:center;padding:24px;text-align:center;text-wrap:balance;color:var(--jac-dim)}
.jupyter-applet-chat .jac-log-frame{position:relative;flex:1 1 0;min-height:0}
.jupyter-applet-chat .jac-log{position:absolute;inset:0;overflow:hidden auto;overflow-anchor:none;overscroll-behavior:contain;scrollbar-width:thin}
.jupyter-applet-chat .jac-log:focus-visible{outline-offset:-2px}
.jupyter-applet-chat .jac-space{position:relative;overflow:hidden}
.jupyter-applet-chat .jac-rows{position:absolute;left:0;right:0}
.jupyter-applet-chat .jac-row{display:flow-root;padding:6px 16px}
.jupyter-applet-chat .jac-row-prompt{display:flex;flex-direction:column;align-items:flex-end;padding-top:12px}
.jupyter-applet-chat .jac-time{margin-top:3px;font-size:11px;line-height:1.3;color:var(--jac-dim)}
.jupyter-applet-chat .jac-older{position:absolute;top:8px;left:50%;transform:translateX(-50%);padding:2px 12px;font-size:12px;border:1px solid var(--jac-line);border-radius:12px;background:var(--jp-layout-color1,Canvas);color:var(--jac-dim)}
.jupyter-applet-chat .jac-to-end{position:absolute;bottom:10px;left:50%;transform:translateX(-50%);min-width:30px;padding:4px 12px;font-size:13px;line-height:20px;border:1px solid var(--jac-line);border-radius:16px;background:var(--jp-layout-color1,Canvas);box-shadow:0 2px 8px #0003}
`;

const BUBBLES = `
.jupyter-applet-chat .message.user{max-width:min(85%,44em);padding:8px 13px;border-radius:14px 14px 4px 14px;overflow-wrap:anywhere;background:${user.from};color:${user.text}}
.jupyter-applet-chat .message.user .jac-prompt{white-space:pre-wrap}
.jupyter-applet-chat .message.user.applet-invoked{background:linear-gradient(135deg,${applet.from} 0%,${applet.to} 100%);border-left:3px solid #ff7b00;color:${applet.text}}
.jupyter-applet-chat .message.user.agent-invoked{background:linear-gradient(135deg,${agent.from} 0%,${agent.to} 100%);border-left:3px solid #9575cd;color:${agent.text}}
.jupyter-applet-chat .message.user.applet-invoked::before,.jupyter-applet-chat .message.user.agent-invoked::before{display:block;margin-bottom:4px;font-size:.75em;line-height:1.4;font-weight:600}
.jupyter-applet-chat .message.user.applet-invoked::before{content:attr(data-applet-source);opacity:${applet.label}}
.jupyter-applet-chat .message.user.agent-invoked::before{content:attr(data-agent-source);opacity:${agent.label}}
.jupyter-applet-chat .message.user .jac-output{margin:6px 0 2px}
.jupyter-applet-chat .message.assistant{max-width:60em;overflow-wrap:anywhere}
.jupyter-applet-chat .jac-error{margin:6px 0;padding:7px 12px;white-space:pre-wrap;border:1px solid color-mix(in srgb,var(--jac-bad) 45%,transparent);border-left-width:3px;border-radius:4px;background:color-mix(in srgb,var(--jac-bad) 9%,transparent)}
.jupyter-applet-chat .jac-note{display:flex;flex-wrap:wrap;align-items:center;gap:8px;color:var(--jac-dim)}
.jupyter-applet-chat .jac-empty{color:var(--jac-dim);font-style:italic}
.jupyter-applet-chat .jac-spinner{flex:none;width:12px;height:12px;border:2px solid var(--jac-line);border-top-color:var(--jac-brand);border-radius:50%;animation:jac-turn .9s linear infinite}
.jupyter-applet-chat .jac-dots{display:flex;gap:5px;padding:8px 0}
.jupyter-applet-chat .jac-dots span{width:7px;height:7px;border-radius:50%;background:var(--jac-dim);animation:jac-beat 1.2s ease-in-out infinite}
.jupyter-applet-chat .jac-dots span:nth-child(2){animation-delay:.16s}
.jupyter-applet-chat .jac-dots span:nth-child(3){animation-delay:.32s}
@keyframes jac-turn{to{transform:rotate(1turn)}}
@keyframes jac-beat{0%,70%,100%{opacity:.25}35%{opacity:.9}}
@media (prefers-reduced-motion:reduce){.jupyter-applet-chat .jac-spinner,.jupyter-applet-chat .jac-dots span{animation-duration:4s;animation-timing-function:steps(4)}}
`;

const PARTS = `
.jupyter-applet-chat .jac-tool{margin:2px 0 6px;font-size:13px;border:1px solid var(--jac-line);border-radius:6px;max-width:100%;width:fit-content}
.jupyter-applet-chat .jac-tool[open]{width:auto}
.jupyter-applet-chat .jac-tool summary{display:flex;align-items:center;gap:8px;padding:3px 10px;cursor:pointer;list-style:none;color:var(--jac-dim)}
.jupyter-applet-chat .jac-tool summary::-webkit-details-marker{display:none}
.jupyter-applet-chat .jac-tool summary::after{content:"›";margin-left:auto;padding-left:6px;font-size:16px;line-height:1}
.jupyter-applet-chat .jac-tool[open] summary::after{transform:rotate(90deg);padding:0}
.jupyter-applet-chat .jac-tool summary code{font:12px var(--jac-mono);color:var(--jp-ui-font-color1,inherit);background:none;padding:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.jupyter-applet-chat .jac-mark{width:12px;text-align:center;font-weight:700;color:var(--jp-success-color1,#388e3c)}
.jupyter-applet-chat .jac-failed .jac-mark{color:var(--jac-bad)}
.jupyter-applet-chat .jac-tool-body{padding:2px 10px 8px;border-top:1px solid var(--jac-line)}
.jupyter-applet-chat .jac-tool-label{margin-top:6px;font-size:11px;color:var(--jac-dim)}
.jupyter-applet-chat .jac-tool-value pre,.jupyter-applet-chat .jac-plain pre{margin:2px 0;padding:0;max-height:320px;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;background:none;border:0;color:inherit;font:12px/1.5 var(--jac-mono)}
.jupyter-applet-chat .jac-output{margin:8px 0}
.jupyter-applet-chat .jac-output figcaption{margin-top:4px;font-size:12px;color:var(--jac-dim)}
.jupyter-applet-chat .message.user .jac-output figcaption{color:inherit}
.jupyter-applet-chat .jac-picture{display:block;max-width:100%;line-height:0;cursor:zoom-in}
.jupyter-applet-chat .jac-picture img{display:block;max-width:100%;max-height:320px;border-radius:4px;background:#fff}
.jupyter-applet-chat .jac-picture.jac-large{cursor:zoom-out}
.jupyter-applet-chat .jac-picture.jac-large img{max-height:none}
.jupyter-applet-chat .message.user .jac-picture img{max-height:200px;max-width:min(100%,320px)}
.jupyter-applet-chat .jac-loading{height:40px;border-radius:4px;background:var(--jac-soft)}
.jupyter-applet-chat .jac-loading.jac-image{height:200px;max-width:320px}
.jupyter-applet-chat .jac-html,.jupyter-applet-chat .jac-plain{max-height:420px;overflow:auto;overflow-wrap:normal}
.jupyter-applet-chat .jac-html .jac-table{overflow:visible}
`;

const TEXT = `
.jupyter-applet-chat .jac-block>*{margin:0 0 .65em}
.jupyter-applet-chat .jac-block:last-child>:last-child{margin-bottom:0}
.jupyter-applet-chat :is(h1,h2,h3,h4,h5,h6){margin:.9em 0 .4em;font-weight:600;line-height:1.3;color:inherit}
.jupyter-applet-chat .jac-block:first-child>:first-child{margin-top:0}
.jupyter-applet-chat h1{font-size:1.35em}.jupyter-applet-chat h2{font-size:1.2em}.jupyter-applet-chat h3{font-size:1.08em}.jupyter-applet-chat :is(h4,h5,h6){font-size:1em}
.jupyter-applet-chat :is(ul,ol){padding-left:1.6em}
.jupyter-applet-chat li>:is(ul,ol){margin:.15em 0}
.jupyter-applet-chat li+li{margin-top:.2em}
.jupyter-applet-chat li>p{margin:.3em 0}
.jupyter-applet-chat blockquote{margin-left:0;padding:0 0 0 .9em;border-left:3px solid var(--jac-line);color:var(--jac-dim)}
.jupyter-applet-chat hr{height:0;border:0;border-top:1px solid var(--jac-line)}
.jupyter-applet-chat .message a{color:var(--jp-content-link-color,var(--jac-brand));text-decoration:underline;text-underline-offset:2px}
.jupyter-applet-chat .jac-block img{max-width:100%}
.jupyter-applet-chat .jac-block :not(pre)>code{padding:.1em .35em;font:.88em var(--jac-mono);border-radius:4px;background:var(--jac-soft);color:inherit}
.jupyter-applet-chat .jac-code{border:1px solid var(--jac-line);border-radius:6px;overflow:hidden}
.jupyter-applet-chat .jac-code-head{display:flex;justify-content:space-between;align-items:center;padding:2px 10px;font-size:12px;color:var(--jac-dim);background:var(--jac-soft);border-bottom:1px solid var(--jac-line)}
.jupyter-applet-chat .jac-copy{padding:1px 6px;border-radius:4px}
.jupyter-applet-chat .jac-copy:hover{background:var(--jac-soft);color:var(--jp-ui-font-color1,inherit)}
.jupyter-applet-chat .jac-code pre{margin:0;padding:10px 12px;overflow-x:auto;background:none;border:0;color:inherit;font:13px/1.5 var(--jac-mono);tab-size:4}
.jupyter-applet-chat .jac-code code{font:inherit;background:none;color:inherit;padding:0;white-space:pre;overflow-wrap:normal}
.jupyter-applet-chat .jac-table{overflow-x:auto}
.jupyter-applet-chat table{border-collapse:collapse;font-size:13px;margin:0}
.jupyter-applet-chat :is(th,td){padding:4px 10px;border:1px solid var(--jac-line);text-align:left;white-space:nowrap}
.jupyter-applet-chat .jac-block :is(th,td){white-space:normal}
.jupyter-applet-chat th{background:var(--jac-soft);font-weight:600}
.jupyter-applet-chat :is(th,td)[align=right]{text-align:right}.jupyter-applet-chat :is(th,td)[align=center]{text-align:center}
.jupyter-applet-chat :is(.hljs-keyword,.hljs-literal,.hljs-selector-tag,.hljs-type){color:var(--jp-mirror-editor-keyword-color,#8959a8);font-weight:600}
.jupyter-applet-chat :is(.hljs-string,.hljs-regexp,.hljs-addition,.hljs-symbol){color:var(--jp-mirror-editor-string-color,#b5532b)}
.jupyter-applet-chat :is(.hljs-number,.hljs-attr,.hljs-attribute,.hljs-variable){color:var(--jp-mirror-editor-number-color,#2a7b4f)}
.jupyter-applet-chat :is(.hljs-comment,.hljs-quote,.hljs-meta){color:var(--jp-mirror-editor-comment-color,#6d7b84);font-style:italic}
.jupyter-applet-chat :is(.hljs-title,.hljs-section,.hljs-name){color:var(--jp-mirror-editor-def-color,#1f6fd0)}
.jupyter-applet-chat :is(.hljs-built_in,.hljs-builtin-name){color:var(--jp-mirror-editor-builtin-color,#2a7b4f)}
.jupyter-applet-chat .hljs-deletion{color:var(--jac-bad)}
`;

const INPUT = `
.jupyter-applet-chat .jac-composer{flex:none;padding:8px 12px 10px;border-top:1px solid var(--jac-line)}
.jupyter-applet-chat .jac-problem{margin:0 2px 6px;font-size:13px;color:var(--jac-bad)}
.jupyter-applet-chat .jac-input{display:flex;align-items:flex-end;gap:4px;padding:3px;border:1px solid var(--jp-border-color1,#8888);border-radius:18px;background:var(--jp-layout-color0,var(--jp-layout-color1,transparent))}
.jupyter-applet-chat .jac-input:focus-within{border-color:var(--jac-brand);box-shadow:0 0 0 1px var(--jac-brand)}
.jupyter-applet-chat .jac-input textarea{flex:1 1 0;min-width:0;margin:0;padding:4px 4px;resize:none;border:0;outline:0;box-shadow:none;background:none;color:inherit;font:14px/20px var(--jp-ui-font-family,system-ui,sans-serif);overflow-y:auto;scrollbar-width:thin}
.jupyter-applet-chat .jac-input textarea::placeholder{color:var(--jac-dim);opacity:1}
.jupyter-applet-chat .jac-icon{flex:none;display:grid;place-content:center;width:28px;height:28px;border-radius:50%;color:var(--jac-dim)}
.jupyter-applet-chat .jac-icon:hover{background:var(--jac-soft)}
.jupyter-applet-chat :is(.jac-send,.jac-stop):not(:disabled){background:${user.from};color:${user.text}}
.jupyter-applet-chat :is(.jac-send,.jac-stop):not(:disabled):hover{filter:brightness(1.12)}
.jupyter-applet-chat .jac-send:disabled{opacity:.5;cursor:default}
.jupyter-applet-chat .jac-chip{display:inline-flex;align-items:center;gap:8px;max-width:100%;margin:0 0 6px;padding:3px 6px 3px 3px;font-size:12px;border:1px solid var(--jac-line);border-radius:6px}
.jupyter-applet-chat .jac-chip img{width:36px;height:36px;object-fit:cover;border-radius:4px}
.jupyter-applet-chat .jac-chip span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.jupyter-applet-chat .jac-chip button{width:20px;height:20px;border-radius:50%;line-height:1}
.jupyter-applet-chat .jac-chip button:hover{background:var(--jac-soft)}
`;

export const STYLE = LOOK + BUBBLES + PARTS + TEXT + INPUT;
