import type { Operation } from '@sluice/http-api';
import type { Context } from '../context.ts';
import type { startTestManagement } from './test-management.ts';

type Management = Pick<
  Awaited<ReturnType<typeof startTestManagement>>,
  'application' | 'session' | 'waitingSession' | 'tenant'
>;

export interface OperationCaller {
  key: string;
  body?: object;
  /** Set where the audit row does not name the management Application and the resource of the path. */
  audited?: { actor_id: string; actor_type: 'application' | 'session'; entity_id: string; detail: object | null };
}

export async function callerFor(
  { application, session, waitingSession, tenant }: Management,
  { id, takesKeyOf }: Operation<Context>,
  managementKey: string = tenant.management_key,
): Promise<OperationCaller> {
  const options = { key: managementKey };
  if (id === 'authorizeSession') {
    const { id: entity_id, nonce, authorizer } = await waitingSession(options);
    const audited = { actor_id: authorizer.id, actor_type: 'application', entity_id, detail: null } as const;
    return { key: authorizer.key, body: { nonce, permissions: ['token:read'] }, audited };
  }
  if (takesKeyOf === 'session') {
    const { id: sessionId, session_key, authorizer } = await session({}, options);
    const detail = { application_id: authorizer.id };
    return {
      key: session_key,
      audited: { actor_id: sessionId, actor_type: 'session', entity_id: sessionId, detail },
    };
  }
  if (takesKeyOf === undefined) return options;
  const permissions = [takesKeyOf === 'public' ? 'token:create' : 'token:read'];
  return { key: (await application({ type: takesKeyOf, permissions }, options)).key };
}
