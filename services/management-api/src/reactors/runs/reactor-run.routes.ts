import { holds } from '@sluice/access';
import { runConsole } from '@sluice/database';
import { cursorPageOf, cursorQuery, readCursor, signCursor, toCursorPage } from '@sluice/http-api';
import { ServiceError } from '@sluice/problems';
import { decryptSecret, type Vault } from '@sluice/vault';
import { operation } from '../../context.ts';
import { date, example, idParams, uuid } from '../../resource.schema.ts';
import { hasReactor, listRuns, type RunPlace, type RunRow } from './reactor-run.queries.ts';

const reactorRun = {
  type: 'object',
  title: 'ReactorRun',
  examples: [
    {
      id: '7c2b1d9e-0f4a-4c6e-9b1a-5d3e8f7a6c10',
      created_by: example.application_id,
      state: 'done',
      created_at: '2026-03-02T09:30:00.000Z',
      started_at: '2026-03-02T09:30:00.040Z',
      ended_at: '2026-03-02T09:30:00.310Z',
      duration_ms: 270,
    },
  ],
  required: ['id', 'created_by', 'state', 'created_at'],
  properties: {
    id: { ...uuid, description: 'The `async_reactor_request_id` that react-async returned' },
    created_by: { ...uuid, description: 'Id of the Application or session that requested the run' },
    console: {
      type: 'array',
      description: 'Console output of the code, without known secrets. Only for callers with `reactor:update`',
      items: {
        type: 'object',
        required: ['level', 'text'],
        properties: {
          level: { type: 'string', enum: ['debug', 'info', 'warn', 'error'] },
          text: { type: 'string' },
        },
      },
    },
    state: { type: 'string', enum: ['waiting', 'running', 'done', 'failed', 'cancelled'] },
    created_at: date,
    started_at: { ...date, description: 'When the run first started' },
    ended_at: date,
    duration_ms: { type: 'integer', description: 'From `started_at` to `ended_at`' },
  },
} as const;

/** A ciphertext comes as hexadecimal, twice as long: as a message and as text; then decoded, decrypted and in the response. */
const copiesOfConsole = 7;

const listReactorRuns = operation({
  id: 'listReactorResults',
  tag: 'Reactors',
  summary: 'List the asynchronous runs of a reactor, newest first',
  description:
    'With `token:use` you see the runs that you requested, with `reactor:read` all runs. Arguments and results are not shown. A run is deleted 24 hours after its end.',
  method: 'get',
  path: '/reactors/:id/results',
  permission: 'reactor:read',
  orPermission: 'token:use',
  params: idParams,
  query: { type: 'object', properties: cursorQuery },
  response: { 200: cursorPageOf(reactorRun) },
  errors: ['not_found'],
  showsSecrets: true,
  async handle({ params, query: { start, size }, caller, hold }, { db, pepper, vault }) {
    const { tenantId } = caller;
    const reactorId = params.id;
    const seesAll = holds(caller, 'reactor:read');
    const filter = { tenantId, reactorId, ...(!seesAll && { createdBy: caller.id }) };
    const scope = { caller, operation: 'listReactorResults', filter };
    const after = start === undefined ? undefined : placeOf(readCursor(pepper, scope, start));
    if (!(await hasReactor(db, filter))) throw new ServiceError('not_found', `Reactor ${reactorId} does not exist`);
    const withConsole = seesAll && holds(caller, 'reactor:update');
    const rows = await listRuns(db, filter, { size, withConsole, ...(after && { after }) });
    const page = rows.slice(0, size);
    await hold(copiesOfConsole * page.reduce((sum, row) => sum + (row.console_ciphertext?.length ?? 0), 0));
    const last = rows.length > size ? page.at(-1) : undefined;
    const next = last && signCursor(pepper, scope, [last.created_at, last.id]);
    return toCursorPage(await Promise.all(page.map((row) => present(row, tenantId, vault))), size, next);
  },
});

function placeOf([at = '', id = '']: readonly string[]): RunPlace {
  return { at, id };
}

async function present(row: RunRow, tenantId: string, vault: Vault) {
  const { id, created_by, state, created_at, started_at, ended_at, console_ciphertext: ciphertext } = row;
  return {
    id,
    created_by,
    ...(ciphertext && { console: await decryptConsole(ciphertext, { tenantId, id, vault }) }),
    state,
    created_at,
    ...(started_at !== null && { started_at }),
    ...(ended_at !== null && { ended_at }),
    ...(started_at !== null && ended_at !== null && { duration_ms: Date.parse(ended_at) - Date.parse(started_at) }),
  };
}

async function decryptConsole(
  ciphertext: Buffer,
  { tenantId, id, vault }: { tenantId: string; id: string; vault: Vault },
): Promise<unknown> {
  return JSON.parse((await decryptSecret(vault, { tenantId, recordId: id, ...runConsole }, ciphertext)).toString());
}

export const reactorRunOperations = [listReactorRuns];
