import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { okAnswer, type ScriptedDestination, startScripted } from '@sluice/testing/raw';

const execute = promisify(execFile);
const program = new URL('../testing/call-in-own-process.ts', import.meta.url).pathname;

const answers = (body: string): Promise<ScriptedDestination> =>
  startScripted({ onBytes: (socket, text) => void (text.endsWith('\r\n\r\n') && socket.write(okAnswer(body))) });

test('proxies that the environment names are not used; the control, fetch, uses them', async () => {
  const destination = await answers('destination');
  const proxy = await answers('proxy');
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH, NODE_USE_ENV_PROXY: '1' };
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) {
    env[name] = proxy.url;
    env[name.toLowerCase()] = proxy.url;
  }
  const { stdout } = await execute(process.execPath, [program, destination.url], { env });
  const { held, streamed, fetched } = JSON.parse(stdout);
  expect({ held, streamed }).toEqual({ held: 'destination', streamed: 'destination' });
  expect(fetched).not.toBe('destination');
  expect(proxy.sockets).toHaveLength(1);
  await destination.close();
  await proxy.close();
});
