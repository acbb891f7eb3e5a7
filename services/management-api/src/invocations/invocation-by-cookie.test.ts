import type { IncomingMessage } from 'node:http';
import { FeedStore, toLine } from '@sluice/invocation-feed';
import { serviceLogger } from '@sluice/service-runtime';
import { testRedisUrl, useStack } from '@sluice/testing';
import { beginExport, finishExport } from '../testing/exports.ts';
import { startTestConsole } from '../testing/test-console.ts';

const api = useStack((stack) => startTestConsole(stack));

const begun: IncomingMessage[] = [];
afterEach(() => {
  for (const response of begun.splice(0)) response.destroy();
});

/** As a page of the console asks for it. */
async function follow(cookie: string, site = 'same-origin'): Promise<IncomingMessage> {
  const headers = { Host: 'console.test', Cookie: cookie, 'Sec-Fetch-Site': site, Accept: 'text/event-stream' };
  const response = await beginExport(`${api.current.url}/api/invocations`, headers);
  begun.push(response);
  return response;
}

test('a person sees invocations by cookie, and the stream is reset when the person signs out', async () => {
  await using stack = new AsyncDisposableStack();
  const { member, tenant } = api.current;
  const store = new FeedStore(testRedisUrl(), { log: serviceLogger({ service: 'test', level: 'silent' }), stack });
  const line = toLine({
    ...{
      traceId: 'seen',
      beganAt: Date.now(),
      ownerId: 'p',
      isRun: false,
      applicationId: undefined,
      method: 'GET',
      status: 200,
    },
    ...{ destinationStatus: undefined, refusedBy: undefined, totalMs: 1, tokenIds: undefined },
    stages: { authenticate: 0, detokenize: 0, transform: 0, destination: 0 },
    printed: [{ level: 'info', text: 'printed' }],
  });
  await store.add(tenant.tenant_id, { lines: [line], skipped: 0, minutes: new Map() });
  const [auditor, developer] = [await member('AUDITOR'), await member('DEVELOPER')];
  const shown = (await developer.send('GET', '/api/invocations')).body.data[0];
  expect(shown).toMatchObject({ trace_id: 'seen', console: [{ level: 'info', text: 'printed' }] });
  expect((await auditor.send('GET', '/api/invocations')).body.data[0]).not.toHaveProperty('console');
  const response = await follow(auditor.state.cookie);
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  expect((await auditor.send('POST', '/api/sign-out', { body: {} })).status).toBe(204);
  expect(await finishExport(response)).toBe('ECONNRESET');
});

test.each(['cross-site', 'same-site', 'none'])('what a browser sends from elsewhere (%s) is 403', async (site) => {
  const { state } = await api.current.member('AUDITOR');
  expect((await follow(state.cookie, site)).statusCode).toBe(403);
});
