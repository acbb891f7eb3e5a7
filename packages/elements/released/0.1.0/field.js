import { applyThemes, watchHeight } from "./field/look.js";
import { Page } from "./field/page.js";
function receivePort({ source, data, ports: [port] }) {
    if (source !== parent || data !== 'sluice' || !port)
        return;
    removeEventListener('message', receivePort);
    port.onmessage = ({ data: start }) => {
        const page = new Page(port);
        const opening = open(start, page);
        port.onmessage = async ({ data: message }) => follow(message, await opening, start, page);
        opening.then(() => page.tell({ emit: 'ready', style: { opacity: '1' } }), ({ message: title }) => page.tell({ emit: 'error', event: { title } }));
    };
}
async function open(start, page) {
    document.documentElement.lang = start.lang || 'en';
    look(start, page);
    watchHeight((heightPx) => page.tell({ style: { height: `${heightPx}px` } }));
    const module = start.kind === 'reveal' ? import("./reveal/revealed.js") : import("./field/inputs.js");
    const content = await (await module).open(start, page);
    content.update(start);
    return content;
}
async function follow(message, content, { key }, page) {
    if (message.do === 'focus')
        content.focus();
    else if (message.do === 'clear')
        content.clear();
    else if (message.do === 'authorized')
        page.authorized(message.call, message.refusal);
    else if (message.do === 'update') {
        look(message, page);
        content.update(message);
    }
    else if (message.do === 'tokenize' || message.do === 'patch') {
        const { send } = await import("./field/send.js");
        page.tell({ call: message.call, ...(await send(message, key, page)) });
    }
}
function look(shown, page) {
    document.title = shown.title;
    page.mark('disabled', shown.disabled ?? false);
    page.tell({ style: { colorScheme: applyThemes(shown) } });
}
if (parent !== window)
    addEventListener('message', receivePort);
