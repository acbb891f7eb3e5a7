import { useStack } from '@sluice/testing';
import { beginExport, fillLog, finishExport } from '../../testing/exports.ts';
import { startTestConsole } from '../../testing/test-console.ts';

const api = useStack(async (stack) => {
  const started = await startTestConsole(stack);
  return { ...started, size: await fillLog(started.db, started.tenant.tenant_id) };
});

/** As the link to the file is followed that a page shows, or that a person has opened. */
function begin({ state }: { state: { cookie: string } }, site = 'same-origin') {
  const headers = { Host: 'console.test', 'Sec-Fetch-Site': site, Cookie: state.cookie };
  return beginExport(`${api.current.url}/api/logs/export`, headers);
}

/** Who exports by cookie, and how the right to do so ends. */
type Scene = () => Promise<{ who: { state: { cookie: string } }; end: () => Promise<{ status: number }> }>;

const auditor = () => api.current.member('AUDITOR');
const members = '/tenants/self/members';

async function byKey() {
  const { application, browser } = api.current;
  const { id, key } = await application({ type: 'management', permissions: ['log:read'] });
  const who = browser();
  await who.signIn({ key });
  return { id, who };
}

const ends: Record<string, Scene> = {
  'the person is removed': async () => {
    const who = await auditor();
    return { who, end: () => api.current.send('DELETE', `${members}/${who.id}`) };
  },
  'the person signs out': async () => {
    const who = await auditor();
    return { who, end: () => who.send('POST', '/api/sign-out', { headers: { Cookie: who.state.cookie } }) };
  },
  'the person signs out everywhere, in another browser': async () => {
    const who = await auditor();
    const other = await api.current.signedIn(who.userId);
    return { who, end: () => other.send('POST', '/api/sign-out', { body: { all: true } }) };
  },
  'somebody who may ends the sign-in': async () => {
    const who = await auditor();
    const [{ id }] = (await who.send('GET', `/api/sign-ins`)).body.data.filter(
      (one: { current: boolean }) => one.current,
    );
    const owner = await api.current.member('OWNER');
    return { who, end: () => owner.send('DELETE', `/api/sign-ins/${id}`) };
  },
  'the key of the sign-in is deleted': async () => {
    const { id, who } = await byKey();
    const [{ id: keyId }] = (await api.current.send('GET', `/applications/${id}/keys`)).body;
    await api.current.addKey(id);
    return { who, end: () => api.current.send('DELETE', `/applications/${id}/keys/${keyId}`) };
  },
  'its Application may not read the log any more': async () => {
    const { id, who } = await byKey();
    const body = { name: 'A', permissions: ['report:read'] };
    return { who, end: () => api.current.send('PUT', `/applications/${id}`, { body }) };
  },
};

test.each(Object.entries(ends))('an export by cookie breaks off when %s', async (_name, open) => {
  const { who, end } = await open();
  const response = await begin(who);
  expect(response.statusCode).toBe(200);
  expect([200, 204]).toContain((await end()).status);
  expect(await finishExport(response)).toBe('ECONNRESET');
});

test('the control: it comes as a whole where the person is demoted and may still read the log, or another is removed', async () => {
  const [who, other] = [await api.current.member('ADMIN'), await auditor()];
  const response = await begin(who, 'none');
  expect(response.statusCode).toBe(200);
  const body = { role: 'AUDITOR' };
  expect((await api.current.send('PUT', `${members}/${who.id}`, { body })).status).toBe(200);
  expect((await api.current.send('DELETE', `${members}/${other.id}`)).status).toBe(204);
  expect(await finishExport(response)).toBeGreaterThanOrEqual(api.current.size); // and rows of the test itself
});
