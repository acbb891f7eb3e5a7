import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyStrokes, keys, startService } from './testing/test-command-line.ts';
import { typeAtTerminal } from './testing/test-terminal.ts';

test('a real terminal shows no key of login', async () => {
  await using closing = new AsyncDisposableStack();
  const service = await startService(closing, () => ({ status: 200, body: [] }));
  const home = await mkdtemp(join(tmpdir(), 'sluice-home-'));
  closing.defer(() => rm(home, { recursive: true, force: true }));
  const turns = [
    ['URL: ', `${service.url}\r`],
    ['Key 1', `${keys.management}\r`],
    ['Key 2', '\r'],
  ] as const;
  const { code, screen } = await typeAtTerminal(['login'], turns, { env: { XDG_CONFIG_HOME: home } });
  expect([code, screen]).toEqual([0, expect.stringContaining('Stored management key')]);
  expect(screen).not.toMatch(/svc_|mmm/);
  expect(service.seen[0]?.headers['svc-api-key']).toBe(keys.management);
});

test('Ctrl-C on a real terminal leaves with 130, without a word', async () => {
  const env = { XDG_CONFIG_HOME: '/nowhere' };
  const { code, screen } = await typeAtTerminal(['login'], [['URL: ', keyStrokes.interrupt]], { env });
  expect([code, screen]).toEqual([130, expect.stringMatching(/URL: \S*\n$/)]);
});
