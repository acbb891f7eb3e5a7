import { randomUUID } from 'node:crypto';
import type { Change, VerbOf } from '@sluice/audit';
import { tagOf } from '@sluice/cache-coherence';
import type { DeclaredMember, Queryable } from '@sluice/database';
import {
  type Acting,
  Confirmed,
  changeRows,
  created,
  pageOf,
  pageQuery,
  type TypeOf,
  toPage,
  transaction,
} from '@sluice/http-api';
import { ServiceError, validationFailed } from '@sluice/problems';
import { type Context, operation } from '../../context.ts';
import { sortByName } from '../../list-order.ts';
import { checkCode } from '../../proxies/proxy.definition.ts';
import { readName } from '../../read-name.ts';
import { recordAct } from '../../record-act.ts';
import { pageLimit } from '../../reserve-page.ts';
import { idFilter, idParams, nameFilter } from '../../resource.schema.ts';
import { withoutNulls } from '../../without-nulls.ts';
import {
  deleteFormula,
  type FormulaRow,
  findFormula,
  insertFormula,
  listFormulas,
  lockFormula,
  updateFormula,
} from './reactor-formula.queries.ts';
import { formulaBody, formula as formulaSchema } from './reactor-formula.schema.ts';

const tag = 'Reactor formulas';

function notFound(id: string): ServiceError {
  return new ServiceError('not_found', `Reactor formula ${id} does not exist`);
}

const auditOf = (operation: VerbOf<'reactor_formula'>, id: string): Change => ({
  operation,
  entityType: 'reactor_formula',
  entityId: id,
});
const lockOf = (tenantId: string, id: string) => ({ tenantId, rows: [`reactor_formula/${id}`] });

function toAnswer({ id, ...row }: FormulaRow) {
  return { ...withoutNulls(row), id, type: 'private' };
}

type Body = TypeOf<typeof formulaBody>;

function toColumns({ name, description, icon, code, configuration, request_parameters }: Body) {
  return {
    name,
    description: description ?? null,
    icon: icon ?? null,
    code,
    configuration: JSON.stringify(configuration),
    request_parameters: JSON.stringify(request_parameters),
  };
}

function checkNames(path: 'configuration' | 'request_parameters', declared: readonly Pick<DeclaredMember, 'name'>[]) {
  const names = declared.map(({ name }) => name);
  const twice = names.findIndex((name, index) => names.indexOf(name) < index);
  if (twice !== -1) throw validationFailed({ [`${path}[${twice}].name`]: ['is declared twice'] });
}

function checkMembers(body: Body): void {
  checkNames('configuration', body.configuration);
  checkNames('request_parameters', body.request_parameters);
}

function checkFormulaCode({ code }: Body, tenantId: string, context: Context): Promise<void> {
  return checkCode('code', code, { tenantId, context, refusal: 'code_does_not_compile' });
}

const createFormula = operation({
  id: 'createReactorFormula',
  tag,
  summary: 'Create a reactor formula',
  description:
    'The code is compiled now. A syntax error is 422. A missing export is an error only when a reactor runs the code.',
  method: 'post',
  path: '/reactor-formulas',
  permission: 'reactor:create',
  body: formulaBody,
  versioned: true,
  response: { 201: formulaSchema },
  errors: ['code_does_not_compile'],
  async handle(input, context) {
    const { body, caller } = input;
    const { tenantId } = caller;
    checkMembers(body);
    const name = readName(body.name);
    await checkFormulaCode(body, tenantId, context);
    const row = { ...toColumns(body), name, tenant_id: tenantId, id: randomUUID(), created_by: caller.id };
    const { answer } = await transaction(context.db, input, async (tx) => {
      const answer = created('/reactor-formulas', toAnswer(await insertFormula(tx, row)));
      await recordAct(tx, input, auditOf('create', row.id));
      return { answer };
    });
    return answer;
  },
});

const listAllFormulas = operation({
  id: 'listReactorFormulas',
  tag,
  summary: 'List reactor formulas',
  description: pageLimit,
  method: 'get',
  path: '/reactor-formulas',
  permission: 'reactor:read',
  query: { type: 'object', properties: { id: idFilter, name: nameFilter, sort: sortByName, ...pageQuery } },
  response: { 200: pageOf(formulaSchema) },
  errors: ['payload_too_large'],
  async handle({ query, caller, hold }, { db }) {
    const filter = { ids: query.id ?? [], name: query.name };
    const { data, total } = await listFormulas(db, caller.tenantId, filter, { ...query, hold });
    return toPage(data.map(toAnswer), total, query);
  },
});

const getFormula = operation({
  id: 'getReactorFormula',
  tag,
  summary: 'Get a reactor formula',
  method: 'get',
  path: '/reactor-formulas/:id',
  permission: 'reactor:read',
  params: idParams,
  versioned: true,
  response: { 200: formulaSchema },
  errors: ['not_found'],
  async handle({ params, caller }, { db }) {
    const row = await findFormula(db, caller.tenantId, params.id);
    if (!row) throw notFound(params.id);
    return toAnswer(row);
  },
});

const putFormula = operation({
  id: 'updateReactorFormula',
  tag,
  summary: 'Replace a reactor formula',
  description:
    'A field that you leave out is removed. After the response, every reactor of the formula runs the new code. The configurations of these reactors do not change. A configuration is checked against the new declaration when its reactor is next changed.',
  method: 'put',
  path: '/reactor-formulas/:id',
  permission: 'reactor:update',
  params: idParams,
  body: formulaBody,
  confirmed: true,
  versioned: true,
  response: { 200: formulaSchema },
  errors: ['not_found', 'code_does_not_compile'],
  async handle(input, context) {
    const { body, caller } = input;
    const { id } = input.params;
    const { db, changes } = context;
    const { tenantId } = caller;
    checkMembers(body);
    const found = await findFormula(db, tenantId, id);
    const name = readName(body.name, found?.name);
    if (!found) throw notFound(id);
    input.requireVersion(found);
    await checkFormulaCode(body, tenantId, context);
    const columns = { ...toColumns(body), name, modified_by: caller.id };
    const { updated, change } = await changeRows(db, lockOf(tenantId, id), async (tx) => {
      await lockVersion(tx, input, id);
      const updated = await updateFormula(tx, { tenantId, id }, columns);
      if (!updated) throw notFound(id);
      await recordAct(tx, input, auditOf('update', id));
      return { updated, change: await changes.record(tx, tenantId, [tagOf.reactorFormula(id)]) };
    });
    return new Confirmed(await changes.barrier(change), toAnswer(updated));
  },
});

const removeFormula = operation({
  id: 'deleteReactorFormula',
  tag,
  summary: 'Delete a reactor formula',
  description: 'If a reactor uses it, the response is 409.',
  method: 'delete',
  path: '/reactor-formulas/:id',
  permission: 'reactor:delete',
  params: idParams,
  versioned: true,
  response: { 204: null },
  errors: ['not_found', 'conflict'],
  async handle(input, { db }) {
    const { tenantId } = input.caller;
    const { id } = input.params;
    await changeRows(db, lockOf(tenantId, id), async (tx) => {
      await lockVersion(tx, input, id);
      await deleteFormula(tx, tenantId, id);
      await recordAct(tx, input, auditOf('delete', id));
      return {};
    });
  },
});

/** @throws {ServiceError} `not_found`, `precondition_failed`. */
async function lockVersion(tx: Queryable, { caller, requireVersion }: Acting, id: string): Promise<void> {
  const locked = await lockFormula(tx, caller.tenantId, id);
  if (!locked) throw notFound(id);
  requireVersion(locked);
}

export const reactorFormulaOperations = [createFormula, listAllFormulas, getFormula, putFormula, removeFormula];
