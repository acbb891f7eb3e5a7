// This file must import nothing at run time, because the integrity hash in a page covers this script but not its imports.
import type { FromFrame, Patch, ToFrame, Tokenize } from './protocol.ts';
import type * as types from './types.ts';

export type * from './types.ts';

type AnyOptions = types.FieldOptions & Partial<types.TextOptions & types.RevealOptions>;
type Message = Omit<Tokenize, 'call' | 'fields'> | Omit<Patch, 'call' | 'fields'>;

interface Call {
  resolve(token: types.Token): void;
  reject(error: types.FieldsError): void;
  authorize?: types.Authorize | undefined;
}

const failed = (problem: types.Problem): types.FieldsError =>
  Object.assign(new Error(problem.detail ?? problem.title), problem);

/** Matches the labels of two fields that can make one token: parts of a card, or texts with names. */
const fitting = /^(number|expiry|cvc) (number|expiry|cvc)$|^text.+ text./;

/** What a field takes from the element around it. */
const inherited = ['color', 'font-family', 'font-size', 'font-weight', 'font-style', 'line-height'];

/** Matches the labels of fields that may have others beside them. */
const grouped = /^(number|expiry|cvc|text.)/;

/** Undefined outside of a page. */
function rootOf(element: Element): Document | ShadowRoot | undefined {
  const root = element.getRootNode();
  return root instanceof Document || root instanceof ShadowRoot ? root : undefined;
}

/** A field, with the members that only its group uses. */
interface Member extends types.Field {
  /** Its kind, followed by the name of a text. */
  label: string;
  target: Element;
  isReady: boolean;
  call(message: Message & { fields: string[] }, authorize?: types.Authorize): Promise<types.Token>;
}

const standing = new WeakMap<Element, types.Field>();

/**
 * Creates a group of fields that make one token.
 *
 * @param url address of the hosted fields, such as `https://fields.example.com`.
 * @param key API key of a public Application.
 */
export function fields(url: string, key: string, { application, theme }: types.FieldsOptions): types.Fields {
  const { origin } = new URL(url);
  const group = crypto.randomUUID();
  const members = new Set<Member>();
  /** What a token is made of. */
  const entries = () => [...members].filter(({ label }) => label !== 'reveal' && label !== 'hub');

  /** The page's window does not list frames in a shadow root, so these find each other at one that it lists. */
  const findHub = () => {
    const known = [...members].find(({ label }) => label === 'hub');
    if (known) return known;
    const box = document.documentElement.appendChild(document.createElement('div'));
    box.hidden = true;
    const hub = mount('hub', 'hub', box, { title: 'Fields' });
    members.add(hub);
    return hub;
  };

  async function send(message: Message, authorize?: types.Authorize) {
    const [first] = entries();
    if (!first) throw failed({ title: 'The group has no fields' });
    await Promise.all(entries().map((member) => member.isReady || member.ready));
    return first.call({ ...message, fields: entries().map(({ label }) => label) }, authorize);
  }

  function mount(kind: types.Kind | 'hub', label: string, target: HTMLElement, options: AnyOptions): Member {
    const { label: clickable, authorize, ...own } = options;
    const frame = document.createElement('iframe');
    const calls = new Map<number | undefined, Call>();
    const listeners = new Set<readonly [name: string, listener: (event: never) => void]>();
    let port: MessagePort | undefined;
    /** Of the newest load, which may still wait. */
    let latest: MessagePort | undefined;

    const post = (message: ToFrame) => port?.postMessage(message);

    const emit = (name: string | undefined, event?: unknown) => {
      for (const [heard, listener] of listeners) if (heard === name) listener(event as never);
    };

    const on = (name: string, listener: (event: never) => void) => {
      const entry = [name, listener] as const;
      listeners.add(entry);
      return () => listeners.delete(entry);
    };

    /** Sets the frame's title. @returns how the frame must show the field. */
    const show = () => {
      const style = getComputedStyle(target);
      frame.title = own.title;
      const around = Object.fromEntries(inherited.map((name) => [name, style.getPropertyValue(name)]));
      return { ...own, around, themes: [theme, own.theme] };
    };

    const cancelCalls = () => {
      for (const { reject } of calls.values()) reject(failed({ title: 'The field was removed or loaded again' }));
      calls.clear();
    };

    const hear = async ({ data }: MessageEvent<FromFrame>) => {
      const { call, nonce } = data;
      const waiting = calls.get(call);
      Object.assign(frame.style, data.style);
      Object.assign(target.dataset, data.dataset);
      field.isReady ||= data.emit === 'ready';
      emit(data.emit, data.event);
      if (data.token) waiting?.resolve(data.token);
      if (data.problem) waiting?.reject(failed(data.problem));
      if (!nonce) return;
      const refusal = await (waiting?.authorize ?? authorize)?.(nonce).then(() => '', String);
      post({ do: 'authorized', call, refusal });
    };

    const ready = new Promise<void>((resolve, reject) => {
      on('ready', resolve);
      on('error', (problem) => reject(failed(problem)));
      const wait = (ms: number) =>
        setTimeout(() => {
          if (field.isReady || !members.has(field)) return;
          // A frame outside the document does not load, so its time has not begun.
          if (!frame.isConnected) return wait(ms);
          if (ms > 3_000)
            return emit('error', {
              title: `No response from ${origin}. Check that the allowed_origins of the Application include ${location.origin}`,
            });
          // While the vault is rolled, the frame's page may name files that another process does not have yet. Inserted anew,
          // the frame loads again without an entry in the history of the page.
          target.append(frame);
          return wait(7_000);
        }, ms);
      wait(3_000);
    });
    // A page that does not await `ready` gets the event `error`, so the rejection must not count as unhandled.
    ready.catch(() => {});

    const field: Member = {
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
        if (kind === 'hub') target.remove();
        delete target.dataset.field;
        members.delete(field);
      },
      call: (message, authorize) =>
        new Promise((resolve, reject) => {
          const call = calls.size + 1;
          calls.set(call, { resolve, reject, authorize });
          post({ ...message, call });
        }),
    };
    if (clickable) find(clickable).addEventListener('click', field.focus);
    // Browsers load the frame again whenever the page moves it, so each load gets a new port.
    frame.addEventListener('load', async () => {
      const { port1, port2 } = new MessageChannel();
      cancelCalls();
      port = undefined;
      latest = port1;
      const root = rootOf(target);
      if (root !== document && grouped.test(label)) await findHub().ready.catch(() => {});
      if (latest !== port1) return;
      port = port1;
      port.onmessage = hear;
      frame.contentWindow?.postMessage('sluice', origin, [port2]);
      post({ ...show(), do: 'start', kind, id: label, group, key, lang: document.documentElement.lang });
      if (root?.activeElement === frame) field.focus();
    });
    frame.src = `${origin}/elements/field?application=${application}`;
    frame.referrerPolicy = 'no-referrer';
    frame.allow = 'payment; clipboard-write';
    frame.style.cssText = 'display:block;border:0;width:100%;height:1.5em;opacity:0';
    target.append(frame);
    return field;
  }

  // Colors of the page change with it. A server that renders a page has none.
  globalThis.matchMedia?.('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const member of members) member.update({});
  });

  return {
    field(kind, place, options) {
      const target = find(place);
      standing.get(target)?.unmount();
      const label = kind + ((options as AnyOptions).name ?? '');
      for (const other of kind === 'reveal' ? [] : entries()) {
        const roots = [rootOf(target), rootOf(other.target)];
        const isFar = roots[0] && roots[1] && roots[0] !== roots[1];
        if (isFar) throw new Error(`${label} and ${other.label} must be in the same document or shadow root`);
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
      for (const member of members) member.unmount();
    },
  };
}

function find(target: Element | string): HTMLElement {
  const element = typeof target === 'string' ? document.querySelector(target) : target;
  if (!element) throw new Error(`The page has no element ${target}`);
  return element as HTMLElement;
}
