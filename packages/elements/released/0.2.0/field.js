import { applyThemes, watchHeight } from "./field/look.js";
import { Page } from "./field/page.js";
function receivePort({ source, data, ports: [port] }) {
    if (source !== parent || data !== 'sluice' || !port)
        return;
    removeEventListener('message', receivePort);
    port.onmessage = ({ data: start }) => {
        const page = new Page(port);
        const loading = load(start.kind);
        const opening = loading.then((make) => open(start, page, make));
        port.onmessage = async ({ data: message }) => follow(message, await opening, start, page);
        opening.then(() => page.tell({ emit: 'ready', style: { opacity: '1' } }), async ({ message: title }) => {
            await loading;
            page.tell({ emit: 'error', event: { title } });
        });
    };
}
async function load(kind) {
    if (kind === 'hub')
        return (await import("./field/hub.js")).open;
    if (kind === 'reveal')
        return (await import("./reveal/revealed.js")).open;
    const entries = kind === 'text' ? import("./field/text-entry.js") : import("./field/card-entries.js");
    const [{ open }, { entriesOf }] = await Promise.all([import("./field/inputs.js"), entries]);
    return (start, page) => open(start, page, entriesOf(start));
}
function open(start, page, make) {
    document.documentElement.lang = start.lang || 'en';
    look(start, start, page);
    watchHeight((heightPx) => page.tell({ style: { height: `${heightPx}px` } }));
    const content = make(start, page);
    content.update(start);
    return content;
}
async function follow(message, content, start, page) {
    if (message.do === 'focus')
        content.focus();
    else if (message.do === 'clear')
        content.clear();
    else if (message.do === 'authorized')
        page.authorized(message.call, message.refusal);
    else if (message.do === 'update') {
        look(message, start, page);
        content.update(message);
    }
    else if (message.do === 'tokenize' || message.do === 'patch') {
        page.tell({ call: message.call, ...(await content.send?.(message)) });
    }
}
function look(shown, { kind }, page) {
    document.title = shown.title;
    page.mark('disabled', shown.disabled ?? false);
    page.tell({ style: { colorScheme: applyThemes(shown, kind) } });
}
if (parent !== window)
    addEventListener('message', receivePort);
