import { ConnectionError, type Sluice } from '@sluice/sdk';
import { type Command, type Input, textOf, textsOf } from '../command.ts';
import { codeOf, exitCodes, RefusedError, UsageError } from '../failure.ts';
import { printBytes, tell } from '../output/print.ts';
import { connect } from '../profile/connect.ts';
import { readData } from '../read-input.ts';
import type { Terminal } from '../terminal.ts';

export const invoke: Command = {
  words: ['proxies', 'invoke'],
  summary:
    'Send a request through a Proxy. PROXY is the id or name of the Proxy; both require proxy:read. Instead of PROXY, --route can name the route of the Proxy',
  arguments: ['[PROXY]', '[PATH]'],
  options: {
    route: { type: 'string', value: 'NAME', description: 'path_name of the Proxy, instead of PROXY' },
    method: {
      type: 'string',
      short: 'X',
      value: 'METHOD',
      description: 'HTTP method; default: GET, or POST with --data',
    },
    header: {
      type: 'string',
      short: 'H',
      multiple: true,
      value: "'NAME: VALUE'",
      description: 'a header that is sent to the destination',
    },
    data: {
      type: 'string',
      short: 'd',
      value: 'BODY',
      description: 'body of the request: text, @file, or - for standard input',
    },
    include: { type: 'boolean', short: 'i', description: 'print status and headers of the response to standard error' },
  },
  notes: `The body of the response is printed to standard output. The exit code is 0 if the destination responded with 2xx.
If PROXY is "-", the key of the Proxy is read from SLUICE_PROXY_KEY. With "-" or --route you do not need proxy:read:
  sluice proxies invoke --route processor /charges --data @charge.json
The private key needs token:use.`,
  async run(input, terminal) {
    const called = await findCalled(input, terminal);
    const sluice = await connect(terminal, { keyTypes: ['private'], profile: textOf(input, 'profile') });
    const answer = await send(sluice, called, input, terminal);
    if (input.values.include === true) {
      const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`);
      tell(terminal, [`${answer.status} ${answer.statusText}`, ...headers].join('\n'));
    }
    await printBytes(terminal, answer.body);
    const ofDestination = [...answer.headers.keys()].some((name) => name.endsWith('-proxy-destination-status'));
    if (!ofDestination)
      tell(
        terminal,
        `${answer.status} is from Sluice. If the body has the field proxy_error.destination_status, the destination has also responded.`,
      );
    else if (!answer.ok) tell(terminal, `The destination answered ${answer.status}.`);
    if (!ofDestination && answer.status === 503) return exitCodes.unreachable;
    return ofDestination && answer.ok ? exitCodes.done : exitCodes.refused;
  },
};

/** What is called, and the path below it. */
type Called = { path: string } & ({ proxyKey: string } | { route: string });

async function findCalled(input: Input, terminal: Terminal): Promise<Called> {
  const route = textOf(input, 'route');
  const [first, second] = input.positionals;
  if (route === undefined) {
    if (first === undefined)
      throw new UsageError(
        'PROXY is missing. Give the id or name of the Proxy. Instead of PROXY, you can give --route with the path_name of the Proxy',
      );
    return { proxyKey: await findKey(first, input, terminal), path: second ?? '' };
  }
  if (second !== undefined)
    throw new UsageError('Give PROXY or --route, not both: sluice proxies invoke --route NAME [PATH]');
  return { route, path: first ?? '' };
}

async function findKey(wanted: string, { values }: Input, terminal: Terminal): Promise<string> {
  if (wanted === '-') {
    const { SLUICE_PROXY_KEY } = terminal.env;
    if (!SLUICE_PROXY_KEY)
      throw new UsageError(
        'SLUICE_PROXY_KEY is not set. If PROXY is "-", the key of the Proxy is read from this variable',
      );
    return SLUICE_PROXY_KEY;
  }
  const profile = typeof values.profile === 'string' ? values.profile : undefined;
  const sluice = await connect(terminal, { keyTypes: ['management'], profile });
  const { signal } = terminal;
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(wanted))
    return (await sluice.proxies.get(wanted, { signal })).key;
  const keys: string[] = [];
  // Compared again, because a star in the filter matches other names too.
  for await (const { name, key } of sluice.proxies.list({ name: wanted }, { signal }))
    if (name === wanted) keys.push(key);
  const [key] = keys;
  if (key === undefined) throw new RefusedError(`There is no Proxy named ${wanted}; see "sluice proxies list"`);
  if (keys.length > 1) throw new RefusedError(`${keys.length} Proxies are named ${wanted}; give the id`);
  return key;
}

async function send(sluice: Sluice, called: Called, input: Input, terminal: Terminal): Promise<Response> {
  const data = textOf(input, 'data');
  const body = data === undefined ? undefined : await readData(data, terminal);
  const headers = new Headers(body === undefined ? {} : { 'Content-Type': 'application/json' });
  for (const line of textsOf(input, 'header')) {
    const at = line.indexOf(':');
    if (at < 1) throw new UsageError("--header must be 'NAME: VALUE'");
    setHeader(headers, line.slice(0, at), line.slice(at + 1).trim());
  }
  const method = textOf(input, 'method') ?? (body === undefined ? 'GET' : 'POST');
  try {
    const client = 'route' in called ? sluice.route(called.route) : sluice.proxy(called.proxyKey);
    return await client.fetch(called.path, {
      method,
      headers,
      ...(body !== undefined && { body }),
      signal: terminal.signal,
    });
  } catch (error) {
    terminal.signal.throwIfAborted();
    const code = codeOf(error instanceof Error ? error.cause : undefined);
    if (code === undefined && error instanceof TypeError && !/fetch failed/.test(error.message))
      throw new UsageError(error.message);
    const title = `no response${code ? ` (${code})` : ''}; the destination may or may not have been called`;
    throw new ConnectionError({ operation: `${method} /${'route' in called ? 'routes' : 'proxy'}`, title });
  }
}

/** fetch would quote an invalid value. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw new UsageError('The name or the value of --header contains characters that HTTP does not allow');
  }
}
