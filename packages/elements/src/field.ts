// The script of the frame's page. It waits for the page around it to hand over a port, and takes only one.
import type { Content } from './field/content.ts';
import { applyThemes, watchHeight } from './field/look.ts';
import { Page } from './field/page.ts';
import type { Shown, Start, ToFrame } from './protocol.ts';

function receivePort({ source, data, ports: [port] }: MessageEvent) {
  if (source !== parent || data !== 'sluice' || !port) return;
  removeEventListener('message', receivePort);
  port.onmessage = ({ data: start }: MessageEvent<Start>) => {
    const page = new Page(port);
    const loading = load(start.kind);
    const opening = loading.then((make) => open(start, page, make));
    port.onmessage = async ({ data: message }) => follow(message, await opening, start, page);
    opening.then(
      () => page.tell({ emit: 'ready', style: { opacity: '1' } }),
      async ({ message: title }) => {
        // While the vault is rolled, another process may not have our files yet. Then the page hears nothing, and loads again.
        await loading;
        page.tell({ emit: 'error', event: { title } });
      },
    );
  };
}

type Make = (start: Start, page: Page) => Content;

/** Everything that the kind needs, so that nothing is missing once the field is ready. */
async function load(kind: Start['kind']): Promise<Make> {
  if (kind === 'hub') return (await import('./field/hub.ts')).open;
  if (kind === 'reveal') return (await import('./reveal/revealed.ts')).open;
  const entries = kind === 'text' ? import('./field/text-entry.ts') : import('./field/card-entries.ts');
  const [{ open }, { entriesOf }] = await Promise.all([import('./field/inputs.ts'), entries]);
  return (start, page) => open(start, page, entriesOf(start));
}

function open(start: Start, page: Page, make: Make): Content {
  document.documentElement.lang = start.lang || 'en';
  look(start, start, page);
  watchHeight((heightPx) => page.tell({ style: { height: `${heightPx}px` } }));
  const content = make(start, page);
  content.update(start);
  return content;
}

async function follow(message: ToFrame, content: Content, start: Start, page: Page) {
  if (message.do === 'focus') content.focus();
  else if (message.do === 'clear') content.clear();
  else if (message.do === 'authorized') page.authorized(message.call, message.refusal);
  else if (message.do === 'update') {
    look(message, start, page);
    content.update(message);
  } else if (message.do === 'tokenize' || message.do === 'patch') {
    page.tell({ call: message.call, ...(await content.send?.(message)) });
  }
}

function look(shown: Shown, { kind }: Start, page: Page) {
  document.title = shown.title;
  page.mark('disabled', shown.disabled ?? false);
  page.tell({ style: { colorScheme: applyThemes(shown, kind) } });
}

if (parent !== window) addEventListener('message', receivePort);
