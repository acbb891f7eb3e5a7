const failed = (problem) => Object.assign(new Error(problem.detail ?? problem.title), problem);
const fitting = /^(number|expiry|cvc) (number|expiry|cvc)$|^text.+ text./;
const inherited = ['color', 'font-family', 'font-size', 'font-weight', 'font-style', 'line-height'];
const grouped = /^(number|expiry|cvc|text.)/;
function rootOf(element) {
    const root = element.getRootNode();
    return root instanceof Document || root instanceof ShadowRoot ? root : undefined;
}
const standing = new WeakMap();
export function fields(url, key, { application, theme }) {
    const { origin } = new URL(url);
    const group = crypto.randomUUID();
    const members = new Set();
    const entries = () => [...members].filter(({ label }) => label !== 'reveal' && label !== 'hub');
    const findHub = () => {
        const known = [...members].find(({ label }) => label === 'hub');
        if (known)
            return known;
        const box = document.documentElement.appendChild(document.createElement('div'));
        box.hidden = true;
        const hub = mount('hub', 'hub', box, { title: 'Fields' });
        members.add(hub);
        return hub;
    };
    async function send(message, authorize) {
        const [first] = entries();
        if (!first)
            throw failed({ title: 'The group has no fields' });
        await Promise.all(entries().map((member) => member.isReady || member.ready));
        return first.call({ ...message, fields: entries().map(({ label }) => label) }, authorize);
    }
    function mount(kind, label, target, options) {
        const { label: clickable, authorize, ...own } = options;
        const frame = document.createElement('iframe');
        const calls = new Map();
        const listeners = new Set();
        let port;
        let latest;
        const post = (message) => port?.postMessage(message);
        const emit = (name, event) => {
            for (const [heard, listener] of listeners)
                if (heard === name)
                    listener(event);
        };
        const on = (name, listener) => {
            const entry = [name, listener];
            listeners.add(entry);
            return () => listeners.delete(entry);
        };
        const show = () => {
            const style = getComputedStyle(target);
            frame.title = own.title;
            const around = Object.fromEntries(inherited.map((name) => [name, style.getPropertyValue(name)]));
            return { ...own, around, themes: [theme, own.theme] };
        };
        const cancelCalls = () => {
            for (const { reject } of calls.values())
                reject(failed({ title: 'The field was removed or loaded again' }));
            calls.clear();
        };
        const hear = async ({ data }) => {
            const { call, nonce } = data;
            const waiting = calls.get(call);
            Object.assign(frame.style, data.style);
            Object.assign(target.dataset, data.dataset);
            field.isReady ||= data.emit === 'ready';
            emit(data.emit, data.event);
            if (data.token)
                waiting?.resolve(data.token);
            if (data.problem)
                waiting?.reject(failed(data.problem));
            if (!nonce)
                return;
            const refusal = await (waiting?.authorize ?? authorize)?.(nonce).then(() => '', String);
            post({ do: 'authorized', call, refusal });
        };
        const ready = new Promise((resolve, reject) => {
            on('ready', resolve);
            on('error', (problem) => reject(failed(problem)));
            const wait = (ms) => setTimeout(() => {
                if (field.isReady || !members.has(field))
                    return;
                if (!frame.isConnected)
                    return wait(ms);
                if (ms > 3_000)
                    return emit('error', {
                        title: `No response from ${origin}. Check that the allowed_origins of the Application include ${location.origin}`,
                    });
                target.append(frame);
                return wait(7_000);
            }, ms);
            wait(3_000);
        });
        ready.catch(() => { });
        const field = {
            label,
            target,
            ready,
            isReady: false,
            on,
            focus() {
                frame.focus();
                post({ do: 'focus' });
            },
            clear: () => post({ do: 'clear' }),
            update(changes) {
                Object.assign(own, changes);
                post({ ...show(), do: 'update' });
            },
            unmount() {
                cancelCalls();
                frame.remove();
                if (kind === 'hub')
                    target.remove();
                delete target.dataset.field;
                members.delete(field);
            },
            call: (message, authorize) => new Promise((resolve, reject) => {
                const call = calls.size + 1;
                calls.set(call, { resolve, reject, authorize });
                post({ ...message, call });
            }),
        };
        if (clickable)
            find(clickable).addEventListener('click', field.focus);
        frame.addEventListener('load', async () => {
            const { port1, port2 } = new MessageChannel();
            cancelCalls();
            port = undefined;
            latest = port1;
            const root = rootOf(target);
            if (root !== document && grouped.test(label))
                await findHub().ready.catch(() => { });
            if (latest !== port1)
                return;
            port = port1;
            port.onmessage = hear;
            frame.contentWindow?.postMessage('sluice', origin, [port2]);
            post({ ...show(), do: 'start', kind, id: label, group, key, lang: document.documentElement.lang });
            if (root?.activeElement === frame)
                field.focus();
        });
        frame.src = `${origin}/elements/field?application=${application}`;
        frame.referrerPolicy = 'no-referrer';
        frame.allow = 'payment; clipboard-write';
        frame.style.cssText = 'display:block;border:0;width:100%;height:1.5em;opacity:0';
        target.append(frame);
        return field;
    }
    globalThis.matchMedia?.('(prefers-color-scheme: dark)').addEventListener('change', () => {
        for (const member of members)
            member.update({});
    });
    return {
        field(kind, place, options) {
            const target = find(place);
            standing.get(target)?.unmount();
            const label = kind + (options.name ?? '');
            for (const other of kind === 'reveal' ? [] : entries()) {
                const roots = [rootOf(target), rootOf(other.target)];
                const isFar = roots[0] && roots[1] && roots[0] !== roots[1];
                if (isFar)
                    throw new Error(`${label} and ${other.label} must be in the same document or shadow root`);
                if (other.label === label || !fitting.test(`${label} ${other.label}`)) {
                    throw new Error(`${label} and ${other.label} cannot make one token`);
                }
            }
            const field = mount(kind, label, target, options);
            standing.set(target, field);
            members.add(field);
            return field;
        },
        tokenize: (options = {}) => send({ do: 'tokenize', options }),
        update: (token, authorize) => send({ do: 'patch', token }, authorize),
        destroy() {
            for (const member of members)
                member.unmount();
        },
    };
}
function find(target) {
    const element = typeof target === 'string' ? document.querySelector(target) : target;
    if (!element)
        throw new Error(`The page has no element ${target}`);
    return element;
}
