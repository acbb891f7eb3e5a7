import { type EndedInvocation, fromLine, toLine } from './invocation-record.ts';

const ended: EndedInvocation = {
  traceId: 'trace-1',
  beganAt: Date.parse('2026-03-02T09:30:00.123Z') + 0.4,
  ownerId: 'p',
  isRun: false,
  applicationId: 'a',
  method: "!#$%&'*+-.^_`|~",
  status: 200,
  destinationStatus: 201,
  refusedBy: undefined,
  stages: { authenticate: 0.1234, detokenize: 0, transform: 2, destination: 41.337 },
  totalMs: 43.5,
  tokenIds: ['with "quotes" \\ and\nlines', 'ü'],
  printed: [{ level: 'info', text: 'a\n"b"' }],
  guardHits: 3,
  guardTokenIds: ['also "quoted"'],
};

test('what is written in a line is read whole', () => {
  const line = toLine(ended);
  expect(line).not.toContain('\n');
  expect(fromLine(line)).toEqual({
    trace_id: 'trace-1',
    at: '2026-03-02T09:30:00.123Z',
    proxy_id: 'p',
    application_id: 'a',
    method: "!#$%&'*+-.^_`|~",
    status: 200,
    destination_status: 201,
    stages_ms: { authenticate: 0.12, transform: 2, destination: 41.34, total: 43.5 },
    token_ids: ended.tokenIds,
    guard_hits: 3,
    guard_token_ids: ended.guardTokenIds,
    console: ended.printed,
  });
});

test('what there was not is left out', () => {
  const nothing = {
    ...{ applicationId: undefined, destinationStatus: undefined, tokenIds: undefined, printed: undefined },
    ...{ guardHits: undefined, guardTokenIds: undefined },
  };
  expect(fromLine(toLine({ ...ended, ...nothing, refusedBy: 'forbidden' }))).toEqual({
    trace_id: 'trace-1',
    at: expect.any(String),
    proxy_id: 'p',
    method: ended.method,
    status: 200,
    refused_by: 'forbidden',
    stages_ms: expect.any(Object),
    token_ids: [],
  });
});

test('a guard that found values of no token has hits and no tokens', () => {
  const of = { ...ended, guardHits: 1, guardTokenIds: undefined };
  expect(fromLine(toLine(of))).toMatchObject({ guard_hits: 1, guard_token_ids: [] });
});

test('a guard that found nothing writes the line that versions without guards write', () => {
  const { guardHits, guardTokenIds, ...former } = ended;
  expect(toLine({ ...former, guardHits: 0, guardTokenIds: [] })).toBe(toLine(former));
  expect(fromLine(toLine(former))).not.toHaveProperty('guard_hits');
});

/** As the version before reads a line: by these places, and without what follows. */
function asBefore(line: string) {
  const [, , proxyId, , , , , , , , printed, guardHits] = JSON.parse(line);
  return { proxyId, printed, guardHits };
}

describe('a failure of the destination', () => {
  const failed = { ...ended, status: 502, refusedBy: 'destination_unreachable', detail: 'The name "a" was not found' };

  test.each([undefined, 3])('is read with its detail, with guard hits: %s', (guardHits) => {
    const record = fromLine(toLine({ ...failed, guardHits }));
    expect(record).toMatchObject({ proxy_id: 'p', refused_by: 'destination_unreachable', detail: failed.detail });
    expect(record.guard_hits).toBe(guardHits);
  });

  test('is read by the version before without it', () => {
    expect(asBefore(toLine({ ...failed, guardHits: 0 }))).toEqual({
      proxyId: 'p',
      printed: ended.printed,
      guardHits: 0,
    });
    expect(JSON.parse(toLine(failed))[13]).toBeNull();
  });
});

describe('a run of a reactor', () => {
  const { destinationStatus, guardHits, guardTokenIds, ...common } = ended;
  const run = { ...common, destinationStatus: undefined, isRun: true, ownerId: 'r', method: 'POST' };

  test('is read with its reactor and its code', () => {
    expect(fromLine(toLine(run))).toEqual({
      trace_id: 'trace-1',
      at: '2026-03-02T09:30:00.123Z',
      reactor_id: 'r',
      application_id: 'a',
      method: 'POST',
      status: 200,
      stages_ms: { authenticate: 0.12, code: 2, destination: 41.34, total: 43.5 },
      token_ids: ended.tokenIds,
      console: ended.printed,
    });
  });

  test('that printed nothing is one, too', () => {
    const record = fromLine(toLine({ ...run, printed: undefined }));
    expect(record).toMatchObject({ reactor_id: 'r' });
    expect(record).not.toHaveProperty('proxy_id');
    expect(record).not.toHaveProperty('console');
  });

  test('is read by the version before, which sees nothing of what it printed', () => {
    expect(asBefore(toLine(run))).toEqual({ proxyId: 'r', printed: [], guardHits: 0 });
  });
});

test('a line that the version before wrote is read', () => {
  const line = '["t",1772443800123,"p","","GET",200,0,"",[1,0,0,0,5],[],[{"level":"info","text":"a"}]]';
  expect(fromLine(line)).toMatchObject({ proxy_id: 'p', console: [{ level: 'info', text: 'a' }] });
});
