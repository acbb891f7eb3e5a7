import { randomUUID } from 'node:crypto';
import type { Change, VerbOf } from '@sluice/audit';
import { absent, tagOf } from '@sluice/cache-coherence';
import { Confirmed, changedTo, changeRows, created, pageOf, pageQuery, toPage, transaction } from '@sluice/http-api';
import { operation } from '../context.ts';
import { sortByName } from '../list-order.ts';
import { readName } from '../read-name.ts';
import { recordAct } from '../record-act.ts';
import { pageLimit } from '../reserve-page.ts';
import { idFilter, idParams, nameFilter, uuid } from '../resource.schema.ts';
import { changeReactor, rowOf } from './change-reactor.ts';
import { checkDefinition, checkOwnCode, mergeInto, type ReactorDefinition, replaceBy } from './reactor.definition.ts';
import {
  deleteReactor,
  findReactor,
  insertReactor,
  listReactors,
  lockReactor,
  reactorNotFound,
} from './reactor.queries.ts';
import { reactorBody, reactorPatchBody, reactorPutBody, reactor as reactorSchema } from './reactor.schema.ts';
import { toColumns, toReactor, withoutConfigurationThatIsGone } from './reactor.secrets.ts';
import { testReactor } from './reactor-trial.routes.ts';

const tag = 'Reactors';

const formulaFilter = { ...uuid, description: 'Lists only reactors that run this formula' } as const;

const auditOf = (operation: VerbOf<'reactor'>, id: string): Change => ({
  operation,
  entityType: 'reactor',
  entityId: id,
});

const createReactor = operation({
  id: 'createReactor',
  tag,
  summary: 'Create a reactor',
  description:
    'A reactor has either its own `code` or a `formula`. Its own code is compiled now: a syntax error is 422. For a formula, `configuration` must have the fields that the formula declares.',
  method: 'post',
  path: '/reactors',
  permission: 'reactor:create',
  body: reactorBody,
  confirmed: true,
  versioned: true,
  response: { 201: reactorSchema },
  errors: ['code_does_not_compile'],
  replay: withoutConfigurationThatIsGone,
  async handle(input, context) {
    const { body, caller } = input;
    const { db, vault, changes } = context;
    const { tenantId } = caller;
    const named = { ...body, name: readName(body.name) };
    const definition = await checkDefinition(named, tenantId, context);
    await checkOwnCode(definition, tenantId, context);
    const id = randomUUID();
    const columns = await toColumns(vault, { tenantId, id }, definition);
    const row = { ...columns, tenant_id: tenantId, id, created_by: caller.id };
    const { answer, change } = await transaction(db, input, async (tx) => {
      const answer = created('/reactors', await toReactor(vault, await insertReactor(tx, row), caller));
      await recordAct(tx, input, auditOf('create', id));
      const change = await changes.record(tx, tenantId, [absent]);
      return { answer, change };
    });
    return new Confirmed(await changes.barrier(change), answer);
  },
});

const listAllReactors = operation({
  id: 'listReactors',
  tag,
  summary: 'List reactors',
  description: pageLimit,
  method: 'get',
  path: '/reactors',
  permission: 'reactor:read',
  query: {
    type: 'object',
    properties: { id: idFilter, name: nameFilter, formula_id: formulaFilter, sort: sortByName, ...pageQuery },
  },
  showsSecrets: true,
  response: { 200: pageOf(reactorSchema) },
  errors: ['payload_too_large'],
  async handle({ query, caller, hold }, { db, vault }) {
    const filter = { ids: query.id ?? [], name: query.name, formulaId: query.formula_id };
    const { data, total } = await listReactors(db, caller.tenantId, filter, { ...query, hold });
    return toPage(await Promise.all(data.map((row) => toReactor(vault, row, caller))), total, query);
  },
});

const getReactor = operation({
  id: 'getReactor',
  tag,
  summary: 'Get a reactor',
  method: 'get',
  path: '/reactors/:id',
  permission: 'reactor:read',
  params: idParams,
  showsSecrets: true,
  versioned: true,
  response: { 200: reactorSchema },
  errors: ['not_found'],
  async handle({ params, caller }, { db, vault }) {
    const row = await findReactor(db, caller.tenantId, params.id);
    if (!row) throw reactorNotFound(params.id);
    return toReactor(vault, row, caller);
  },
});

const putReactor = operation({
  id: 'updateReactor',
  tag,
  summary: 'Replace a reactor',
  description:
    'A field that you leave out is removed. Exception: if you send neither `code` nor `formula` nor `formula_id`, the reactor runs the same code as before. You can send the body of a GET response unchanged. It has `formula_id` instead of `formula`, and `application_id` instead of `application`. `formula_id` is used only if the body has neither `formula` nor `code`. `application_id` is used only if the body has no `application`.',
  method: 'put',
  path: '/reactors/:id',
  permission: 'reactor:update',
  params: idParams,
  body: reactorPutBody,
  confirmed: true,
  versioned: true,
  response: { 200: reactorSchema },
  errors: ['not_found', 'code_does_not_compile'],
  replay: withoutConfigurationThatIsGone,
  async handle(input, context) {
    const { params, body, caller } = input;
    const next = { id: params.id, next: (current: ReactorDefinition) => replaceBy(body, current) };
    const { row, change } = await changeReactor(input, next, context);
    return new Confirmed(await context.changes.barrier(change), await toReactor(context.vault, row, caller));
  },
});

const patchReactor = operation({
  id: 'patchReactor',
  tag,
  summary: 'Change parts of a reactor with a JSON merge patch (RFC 7386)',
  description:
    'A field that you leave out does not change. Null removes an optional field. `configuration` is merged field by field. The Content-Type must be `application/merge-patch+json`.',
  method: 'patch',
  path: '/reactors/:id',
  permission: 'reactor:update',
  params: idParams,
  body: reactorPatchBody,
  consumes: 'application/merge-patch+json',
  confirmed: true,
  versioned: true,
  response: { 204: null },
  errors: ['not_found', 'code_does_not_compile'],
  async handle(input, context) {
    const { params, body } = input;
    const next = { id: params.id, next: (current: ReactorDefinition) => mergeInto(current, body) };
    const { row, change } = await changeReactor(input, next, context);
    return new Confirmed(await context.changes.barrier(change), changedTo(row));
  },
});

const removeReactor = operation({
  id: 'deleteReactor',
  tag,
  summary: 'Delete a reactor',
  description: 'As soon as this request is answered, every request that calls the reactor is 404.',
  method: 'delete',
  path: '/reactors/:id',
  permission: 'reactor:delete',
  params: idParams,
  confirmed: true,
  versioned: true,
  response: { 204: null },
  errors: ['not_found'],
  async handle(input, { db, changes }) {
    const { tenantId } = input.caller;
    const { id } = input.params;
    const { change } = await changeRows(db, rowOf(tenantId, id), async (tx) => {
      const row = await lockReactor(tx, tenantId, id);
      if (!row) throw reactorNotFound(id);
      input.requireVersion(row);
      await deleteReactor(tx, tenantId, id);
      await recordAct(tx, input, auditOf('delete', id));
      return { change: await changes.record(tx, tenantId, [tagOf.reactor(id)]) };
    });
    return new Confirmed(await changes.barrier(change));
  },
});

export const reactorOperations = [
  createReactor,
  listAllReactors,
  getReactor,
  putReactor,
  patchReactor,
  removeReactor,
  testReactor,
];
