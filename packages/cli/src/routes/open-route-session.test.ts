import { Sluice } from '@sluice/sdk';
import { keys, startService } from '../testing/test-command-line.ts';
import { openRouteSession } from './open-route-session.ts';

const sessionKey = `svc_local_ses_${'s'.repeat(49)}`;
const refused = { status: 401, body: { title: 'No' } };

type Answers = Parameters<typeof startService>[1];

/** A service that makes sessions, and answers their authorization and end as given. */
async function setUp(closing: AsyncDisposableStack, { authorize, end }: Record<'authorize' | 'end', Answers>) {
  const { seen, url } = await startService(closing, (asked, request, response) => {
    if (asked.url === '/sessions') return { status: 201, body: { id: 's', session_key: sessionKey, nonce: 'n' } };
    return (asked.url === '/sessions/self' ? end : authorize)(asked, request, response);
  });
  const client = (apiKey: string) => new Sluice({ baseUrl: url, apiKey, retries: 0 });
  const clients = {
    ...{ url, headerPrefix: 'SVC', public: client(keys.public) },
    ...{ private: client(keys.private), management: client(keys.management) },
  };
  const proxy = {
    id: 'p',
    tenant_id: 't',
    name: 'P',
    key: 'k',
    destination_url: url,
    require_auth: true,
    path_name: 'p',
  };
  const open = (signal: AbortSignal, onKey?: () => void) =>
    openRouteSession(clients, [proxy], { seconds: 60, signal, ...(onKey && { onKey }) });
  const ends = () => seen.filter((one) => `${one.method} ${one.url}` === 'DELETE /sessions/self');
  return { open, ends };
}

const never = new AbortController().signal;

test('a session whose authorization was not answered is ended, also if it is authorized only afterwards', async () => {
  await using closing = new AsyncDisposableStack();
  let refusals = 0;
  const { open, ends } = await setUp(closing, {
    authorize: (_asked, request) => void request.socket.destroy(),
    end: () => (++refusals < 3 ? refused : { status: 204 }),
  });
  await expect(open(never)).rejects.toThrow('POST /sessions/authorize');
  expect(ends().map(({ headers }) => headers['svc-api-key'])).toEqual([sessionKey, sessionKey, sessionKey]);
});

test('one whose caller leaves during the authorization is ended, and the caller’s reason is told', async () => {
  await using closing = new AsyncDisposableStack();
  const caller = new AbortController();
  const { open, ends } = await setUp(closing, {
    authorize: () => void caller.abort(new Error('the caller left')),
    end: () => ({ status: 204 }),
  });
  await expect(open(caller.signal)).rejects.toThrow('the caller left');
  expect(ends()).toHaveLength(1);
});

test.each([403, 500])(
  'one whose authorization is answered with %i is ended, and the answer is told',
  async (status) => {
    await using closing = new AsyncDisposableStack();
    let isOpen = status === 500;
    const { open, ends } = await setUp(closing, {
      authorize: () => ({ status, body: { title: 'Not so' } }),
      end: () => {
        if (!isOpen) return refused;
        isOpen = false;
        return { status: 204 };
      },
    });
    await expect(open(never)).rejects.toThrow('Not so');
    expect(ends()).toHaveLength(1);
  },
);

test('a service that is away ends the trying', async () => {
  await using closing = new AsyncDisposableStack();
  const { open, ends } = await setUp(closing, {
    authorize: (_asked, request) => void request.socket.destroy(),
    end: (_asked, request) => void request.socket.destroy(),
  });
  await expect(open(never)).rejects.toThrow('POST /sessions/authorize');
  expect(ends().length).toBeGreaterThan(0);
});

test('one whose key was handed over is left to its holder', async () => {
  await using closing = new AsyncDisposableStack();
  const { open, ends } = await setUp(closing, {
    authorize: () => ({ status: 500, body: { title: 'Not so' } }),
    end: () => ({ status: 204 }),
  });
  await expect(open(never, () => undefined)).rejects.toThrow('Not so');
  expect(ends()).toEqual([]);
});
