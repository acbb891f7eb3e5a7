import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Sluice, SluiceError } from '@sluice/sdk';
import { onFirstSignal } from '@sluice/service-runtime/command-line';
import { LaunchError } from '../launch-error.ts';
import { type Credentials, credentialsFile } from '../stack/credentials.ts';
import { startStack } from '../stack/stack.ts';
import { type AgentScenario, runAgentScenario } from './agent.ts';
import { formatColumns } from './columns.ts';
import { startEchoDestination } from './echo-destination.ts';
import { runScenario, type Scenario } from './scenario.ts';
import { openShop } from './shop/shop.ts';

export const help = `Usage: npm run demo [-- agent | -- shop]

Shows the main job: a card number becomes a token, a Proxy replaces the token with the number in a request to a
destination, and the response contains a token again. Uses the platform that "npm start" runs, or starts one for the
demo. In the end everything that the demo created is deleted.

agent Shows an agent that calls an API through a route: what it had, what the API received, what came back, and the log.

shop  Shows a checkout in your browser instead. You type a card number into frames of the vault, and the page shows what
      each party saw. Ctrl-C ends it.

Settings (environment): SLUICE_DIR, HEADER_PREFIX, NO_COLOR, as for npm start.`;

export interface DemoOptions {
  directory: string;
  headerPrefix: string;
  path: string;
  colour: boolean;
  /** Characters in a line. */
  width: number;
}

interface Stage {
  credentials: Credentials;
  stack: AsyncDisposableStack;
  log: (line: string) => void;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

/** @returns the exit code. */
export function demo(options: DemoOptions): Promise<number> {
  return onStage(options, async ({ credentials, stack, log }) => {
    const destination = await startEchoDestination(stack);
    const { headerPrefix } = options;
    const scenario = await runScenario({ credentials, headerPrefix, destinationUrl: destination.url, stack, log });
    const received = destination.last();
    if (!received) throw new LaunchError('The destination received nothing');
    log(`\n${formatExchange(scenario, received, options)}\n`);
    log('The caller never held the card number, and the answer of the destination lost it on the way back.');
  });
}

/** @returns the exit code. */
export function demoAgent(options: DemoOptions): Promise<number> {
  return onStage(options, async ({ credentials, stack, log }) => {
    const played = await runAgentScenario({ credentials, headerPrefix: options.headerPrefix, stack, log });
    log(`\n${formatAgent(played, options)}\n`);
    log(`After the session ended, the same call got ${played.afterwards}. The agent never had the credential.`);
  });
}

/** @returns the exit code, once a person stops it. */
export function demoShop(options: DemoOptions): Promise<number> {
  return onStage(options, async ({ credentials, stack, log, signal }) => {
    const url = await openShop({ credentials, headerPrefix: options.headerPrefix, stack });
    log(`The shop is open at ${options.colour ? `\x1b[1m${url}\x1b[0m` : url}

Pay with 4242 4242 4242 4242, any month to come and any code. The page shows what each party saw.
Ctrl-C closes it, and deletes what it made.`);
    if (!signal.aborted) await once(signal, 'abort');
  });
}

/** Plays on the running platform, or on a new one. */
async function onStage(options: DemoOptions, play: (stage: Stage) => Promise<void>): Promise<number> {
  const interrupted = new AbortController();
  const { signal } = interrupted;
  onFirstSignal(['SIGINT', 'SIGTERM'], () => interrupted.abort(new LaunchError('Interrupted')));
  try {
    await using stack = new AsyncDisposableStack();
    const log = (line: string) => console.log(line);
    const credentials = (await findRunning(options)) ?? (await startOne(options, { stack, log, signal }));
    await play({ credentials, stack, log, signal });
    return 0;
  } catch (error) {
    console.error(error instanceof LaunchError || error instanceof SluiceError ? error.message : error);
    return 1;
  }
}

/** The credentials of the platform that runs on this folder, if there is one. */
async function findRunning({ directory, headerPrefix }: DemoOptions): Promise<Credentials | undefined> {
  try {
    const credentials: Credentials = JSON.parse(await readFile(credentialsFile(directory), 'utf8'));
    const { base_url: baseUrl, management_key: apiKey } = credentials;
    await new Sluice({ baseUrl, apiKey, headerPrefix, retries: 0 }).tenant.get();
    return credentials;
  } catch {
    return undefined; // none was ever started here, or it is not running
  }
}

interface StartOptions {
  stack: AsyncDisposableStack;
  log: (line: string) => void;
  signal: AbortSignal;
}

async function startOne({ directory, path, headerPrefix }: DemoOptions, { stack, log, signal }: StartOptions) {
  log('Nothing runs yet; starting a platform for the demo');
  const environment = { PATH: path, HEADER_PREFIX: headerPrefix };
  const started = await startStack({ directory, port: 0, log, environment, signal });
  stack.defer(() => started.close());
  log('');
  return started.credentials;
}

function formatExchange(
  { sent, answer, cardNumber, cardToken }: Scenario,
  received: { line: string; headers: NodeJS.Dict<string | string[]>; body: unknown },
  { colour, width }: DemoOptions,
): string {
  const text = formatColumns(
    [
      {
        title: 'What the caller sent',
        lines: [
          `POST ${sent.path}`,
          ...Object.entries(sent.headers).map(([name, value]) => `${name}: ${value}`),
          '',
          ...json(sent.body),
        ],
      },
      {
        title: 'What the destination received',
        lines: [received.line, `Authorization: ${received.headers.authorization}`, '', ...json(received.body)],
      },
      {
        title: 'What the caller got back',
        lines: [
          `Status ${answer.status}`,
          ...[...answer.headers]
            .filter(([name]) => name.endsWith('destination-status'))
            .map(([name, value]) => `${name}: ${value}`),
          '',
          ...json(answer.body),
        ],
      },
    ],
    { width, colour },
  );
  if (!colour) return text;
  return text
    .replaceAll(cardNumber, `\x1b[31m${cardNumber}\x1b[0m`)
    .replaceAll(cardToken, `\x1b[32m${cardToken}\x1b[0m`);
}

function formatAgent(
  { credential, environment, received, answer, log }: AgentScenario,
  { colour, width }: DemoOptions,
): string {
  const exchange = formatColumns(
    [
      { title: 'What the agent had', lines: Object.entries(environment).map(([name, value]) => `${name}=${value}`) },
      {
        title: 'What the destination received',
        lines: [received.line, `Authorization: ${received.authorization}`, '', ...json(received.body)],
      },
      { title: 'What came back, guarded', lines: [`Status ${answer.status}`, '', ...json(answer.body)] },
    ],
    { width, colour },
  );
  const text = `${exchange}\n\n${formatColumns([{ title: 'What the log says', lines: log }], { width, colour })}`;
  if (!colour) return text;
  return text
    .replaceAll(credential, `\x1b[31m${credential}\x1b[0m`)
    .replaceAll('[redacted]', '\x1b[32m[redacted]\x1b[0m');
}

function json(value: unknown): string[] {
  return JSON.stringify(value, null, 2).split('\n');
}
