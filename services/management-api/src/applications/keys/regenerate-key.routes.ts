import { absent, tagOf } from '@sluice/cache-coherence';
import { generateApiKey, hashKey, lastFourOf } from '@sluice/credentials';
import { Confirmed, changeRows } from '@sluice/http-api';
import { operation } from '../../context.ts';
import { recordAct } from '../../record-act.ts';
import { idParams } from '../../resource.schema.ts';
import { withoutNulls } from '../../without-nulls.ts';
import { requireHeld } from '../application.grants.ts';
import { applicationNotFound } from '../application.not-found.ts';
import { updateApplication } from '../application.queries.ts';
import { applicationWithKey } from '../application.schema.ts';
import { lockTarget, rowOf } from '../lock-target.ts';
import { deleteKeys, insertKey, keepOldKeyColumn, nextKeyVersion } from './application-key.queries.ts';
import { withoutKeyThatIsGone } from './application-key.routes.ts';

export const regenerateApplicationKey = operation({
  id: 'regenerateApplicationKey',
  tag: 'Applications',
  summary: 'Replace all keys of an Application with one new key',
  description:
    'Takes no body. The response has the new key. After the response, every service refuses the previous keys, and the sessions that they authorized have ended. Your key must have each management permission of the Application. Otherwise the response is 403.',
  method: 'post',
  path: '/applications/:id/regenerate',
  permission: 'application:update',
  params: idParams,
  confirmed: true,
  versioned: true,
  response: { 200: applicationWithKey },
  errors: ['not_found'],
  async handle(input, { db, changes, keyEnvironment, pepper }) {
    const { params, caller } = input;
    const locked = { ...rowOf(caller, params.id), settle: input.settle };
    const { answer, change } = await changeRows(db, locked, async (tx) => {
      const current = await lockTarget(tx, input, params.id);
      requireHeld(caller, current);
      const key = generateApiKey(keyEnvironment, current.type);
      await deleteKeys(tx, caller.tenantId, params.id);
      await insertKey(tx, {
        tenantId: caller.tenantId,
        applicationId: params.id,
        version: await nextKeyVersion(tx, caller.tenantId, params.id),
        keyHash: hashKey(pepper, key),
        lastFour: lastFourOf(key),
        createdBy: caller.id,
      });
      await keepOldKeyColumn(tx, caller.tenantId, params.id);
      const updated = await updateApplication(tx, caller.tenantId, params.id, { modified_by: caller.id });
      if (!updated) throw applicationNotFound(params.id);
      await recordAct(tx, input, {
        operation: 'regenerate',
        entityType: 'application',
        entityId: params.id,
      });
      const tags = [tagOf.application(params.id), absent];
      const answer = { ...withoutNulls(updated), key };
      const change = await changes.record(tx, caller.tenantId, tags);
      return { answer, change };
    });
    return new Confirmed(await changes.barrier(change), answer);
  },
  replay: withoutKeyThatIsGone,
});
