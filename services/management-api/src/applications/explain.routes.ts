import { type Explanation, explain, permissions } from '@sluice/access';
import { ServiceError } from '@sluice/problems';
import { findPlaces, isTokenId } from '@sluice/vault';
import { operation } from '../context.ts';
import { idParams } from '../resource.schema.ts';
import { applicationNotFound } from './application.not-found.ts';
import { findApplication } from './application.queries.ts';

const tokenPermissions = permissions.map(({ type }) => type).filter((type) => type.startsWith('token:'));

const question = {
  type: 'object',
  title: 'ExplainRequest',
  required: ['token_id', 'operation'],
  examples: [{ token_id: 'b7f3a0c4-5d2e-4f18-9c61-0a8e4d7b3f92', operation: 'token:read' }],
  properties: {
    token_id: { type: 'string', minLength: 1, maxLength: 400, description: 'An existing token' },
    operation: { type: 'string', enum: tokenPermissions, description: 'What is to be done with the token' },
  },
} as const;

const explanation = {
  type: 'object',
  title: 'AccessExplanation',
  description: 'What an Application may do with a token, and which of its grants says so.',
  required: ['allowed', 'reason'],
  examples: [
    {
      allowed: true,
      transform: 'mask',
      decided_by: { rule: 0 },
      reason:
        'rules[0] (Reads cards masked) decides: of the rules that grant token:read on this token it is the first.',
    },
  ],
  properties: {
    allowed: { type: 'boolean' },
    transform: {
      type: 'string',
      enum: ['redact', 'mask', 'reveal'],
      description: 'How `data` would be shown. Absent where the operation is not allowed',
    },
    decided_by: {
      type: 'object',
      title: 'DecidedBy',
      description: 'One of the two members. Absent where nothing grants the operation',
      properties: {
        rule: { type: 'integer', description: "Position in the Application's `rules`, from 0" },
        permission: { type: 'string', description: "One of the Application's `permissions`" },
      },
    },
    reason: { type: 'string', description: 'The same as a sentence' },
  },
} as const;

export const explainAccess = operation({
  id: 'explainAccess',
  tag: 'Applications',
  summary: 'Explain what an Application may do with a token, and which of its rules decides',
  description:
    'The answer comes from the function that also decides about requests. It never has `data`. For `token:create` it says whether the Application could create a token in all containers of this one. Sessions of the Application may do at most as much.',
  method: 'post',
  path: '/applications/:id/explain',
  permission: 'application:read',
  params: idParams,
  body: question,
  idempotent: false,
  response: { 200: explanation },
  errors: ['not_found'],
  async handle({ params, body, caller: { tenantId } }, { db }) {
    const application = await findApplication(db, tenantId, params.id);
    if (!application) throw applicationNotFound(params.id);
    const { token_id: tokenId, operation: permission } = body;
    const [place] = isTokenId(tokenId) ? await findPlaces(db, tenantId, [tokenId]) : [];
    if (!place) throw new ServiceError('not_found', 'There is no token with this token_id');
    const each = permission === 'token:create' ? place.containers.map((one) => [one]) : [place.containers];
    const explained = each.map((containers) => explain(application, permission, { id: place.id, containers }));
    const missing = explained.indexOf(undefined);
    if (missing >= 0) return refused(permission, each[missing] ?? []);
    const [deciding] = explained;
    return deciding ? granted(deciding, application.rules) : refused(permission, place.containers);
  },
});

function refused(permission: string, containers: readonly string[]) {
  const where = `a token in ${containers.join(', ')}`;
  return {
    allowed: false,
    reason: `Neither a rule nor a permission of the Application grants ${permission} on ${where}.`,
  };
}

type Rules = readonly { description?: string | undefined }[];

function granted({ transform, decidedBy }: Explanation, rules: Rules) {
  return { allowed: true, transform, decided_by: decidedBy, reason: reasonOf(decidedBy, rules) };
}

function reasonOf(by: Explanation['decidedBy'], rules: Rules): string {
  if ('permission' in by) {
    return `No rule of the Application that reaches this token grants ${by.permission}; its permission ${by.permission} does, in every container.`;
  }
  const description = rules[by.rule]?.description;
  const name = `rules[${by.rule}]${description ? ` (${description})` : ''}`;
  return `${name} decides: it is the first, by priority and then position, of the rules that grant this on the token.`;
}
