import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { eventually, untilLockIsAwaited, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { startTestManagement } from '../testing/test-management.ts';

const mostWaiting = 20;

const api = useStack((stack) =>
  startTestManagement(stack, {
    TRUSTED_PROXIES: '127.0.0.0/8, ::1/128',
    TENANT_MAX_SESSION_CALLS: String(mostWaiting),
  }),
);

const flooding = '192.0.2.7';
const make = (key: string, address = flooding) =>
  api.current.send('POST', '/sessions', { key, headers: { 'X-Forwarded-For': address } });
const publicApplication = () => api.current.application({ type: 'public', permissions: ['token:create'] });

const countSessions = async (applicationId: string): Promise<number> => {
  const { db } = api.current;
  return (await db.selectFrom('sessions').select('id').where('application_id', '=', applicationId).execute()).length;
};

/** Sessions of the Application can be made again only after `meanwhile`. */
async function whileNoneIsMade(applicationId: string, meanwhile: () => Promise<void>): Promise<void> {
  const { db } = api.current;
  const lock = await db.startTransaction().execute();
  try {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`sessions ${applicationId}`}, 0))`.execute(lock);
    await meanwhile();
  } finally {
    await lock.rollback().execute();
  }
}

test('a session is authorized while others of the Tenant wait to be made', async () => {
  const maker = await publicApplication();
  const { nonce, authorizer } = await api.current.waitingSession();
  let made: ReturnType<typeof make>[] = [];
  await whileNoneIsMade(maker.id, async () => {
    made = Array.from({ length: 5 }, () => make(maker.key));
    await untilLockIsAwaited(api.current.db);
    const body = { nonce, permissions: ['token:read'] };
    expect((await api.current.send('POST', '/sessions/authorize', { key: authorizer.key, body })).status).toBe(200);
  });
  expect((await Promise.all(made)).map(({ status }) => status)).toEqual(made.map(() => 201));
});

test('a flood of one network is 429 beyond what may wait; a client of another is served, and not behind it', async () => {
  const maker = await publicApplication();
  const answers: string[] = [];
  const note = async (name: string, answer: ReturnType<typeof make>) => {
    const { status, headers } = await answer;
    answers.push(`${name} ${status}`);
    if (status === 429) expect(headers.get('retry-after')).toMatch(/^[1-9]/);
  };
  const noted: Promise<void>[] = [];
  await whileNoneIsMade(maker.id, async () => {
    for (let i = 0; i < mostWaiting + 10; i++) noted.push(note('flood', make(maker.key)));
    await eventually('the flood is refused', () => answers.length === 9);
    noted.push(note('other', make(maker.key, '198.51.100.1')));
    await eventually('one more of the flood made room', () => answers.length === 10);
  });
  await Promise.all(noted);
  expect(answers.slice(0, 10)).toEqual(Array(10).fill('flood 429'));
  // Answers of one moment may be read in another order.
  expect(answers.slice(10).indexOf('other 201')).toBeLessThan(mostWaiting / 2);
  expect(answers.slice(10).sort()).toEqual([...Array(mostWaiting).fill('flood 201'), 'other 201']);
  expect(await api.current.metrics.metrics()).toMatch(/^sluice_limit_refusals_total\{limit="session_requests"\} 10$/m);
});

test('no session is made for a client that left while it waited', async () => {
  const maker = await publicApplication();
  const { logLines, url } = api.current;
  const { hostname, port } = new URL(url);
  let made: ReturnType<typeof make> | undefined;
  await whileNoneIsMade(maker.id, async () => {
    made = make(maker.key);
    await untilLockIsAwaited(api.current.db);
    const socket = connect(Number(port), hostname);
    const headers = `SVC-API-KEY: ${maker.key}\r\nSVC-TRACE-ID: leaves-early\r\nContent-Length: 0`;
    socket.write(`POST /sessions HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`);
    await setTimeout(500); // on a busy machine it may leave before it waits, and makes no session either
    socket.destroy();
    await eventually('it is noticed', () => logLines.some((line) => line.includes('leaves-early')));
  });
  expect((await made)?.status).toBe(201);
  expect((await make(maker.key)).status).toBe(201);
  expect(await countSessions(maker.id)).toBe(2);
});

describe('a key that was replaced, confirmed, while its requests waited', () => {
  /** The first request waits for a lock, the others for their turn, as many as may: one more is 429. */
  async function whileManyWait(send: () => ReturnType<typeof make>, meanwhile: () => Promise<void>) {
    const sent = [send()];
    await untilLockIsAwaited(api.current.db);
    const statuses: number[] = [];
    for (let i = 0; i <= mostWaiting; i++) sent.push(send());
    for (const answer of sent) void answer.then(({ status }) => statuses.push(status));
    await eventually('the queue is full', () => statuses.length === 1);
    await meanwhile();
    return { statuses, all: Promise.all(sent) };
  }

  const replaceKey = async (applicationId: string) => {
    expect((await api.current.send('POST', `/applications/${applicationId}/regenerate`)).status).toBe(200);
  };

  test('makes no session', async () => {
    const maker = await publicApplication();
    let sent: Awaited<ReturnType<typeof whileManyWait>> | undefined;
    await whileNoneIsMade(maker.id, async () => {
      sent = await whileManyWait(
        () => make(maker.key),
        () => replaceKey(maker.id),
      );
    });
    await sent?.all;
    expect(sent?.statuses.sort()).toEqual([...Array(mostWaiting + 1).fill(401), 429]);
    expect(await countSessions(maker.id)).toBe(0);
  });

  test('authorizes no session', async () => {
    const { db } = api.current;
    const { id, nonce, authorizer } = await api.current.waitingSession();
    const body = { nonce, permissions: ['token:read'] };
    const lock = await db.startTransaction().execute();
    await lock.selectFrom('sessions').select('id').where('id', '=', id).forUpdate().execute();
    const { statuses, all } = await whileManyWait(
      () => api.current.send('POST', '/sessions/authorize', { key: authorizer.key, body }),
      () => replaceKey(authorizer.id),
    ).finally(() => lock.rollback().execute());
    await all;
    expect(statuses.sort()).toEqual([...Array(mostWaiting + 1).fill(401), 429]);
    const [session] = await db.selectFrom('sessions').select('authorized_by').where('id', '=', id).execute();
    expect(session).toEqual({ authorized_by: null });
  });
});
