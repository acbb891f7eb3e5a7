import { type Explanation, explain, permissions } from '@sluice/access';
import { tokenUseSchema } from '@sluice/vault';
import { operation } from '../context.ts';
import { idParams, uuid } from '../resource.schema.ts';
import { applicationNotFound } from './application.not-found.ts';
import { findApplication } from './application.queries.ts';
import { answerCall, findAskedToken, readQuestion, requireToReadProxies } from './explain-call.ts';

const membersOfUse = Object.keys(tokenUseSchema.properties).map((member) => `use.${member}`);
const tokenPermissions = permissions.map(({ type }) => type).filter((type) => type.startsWith('token:'));

const question = {
  type: 'object',
  title: 'ExplainRequest',
  description:
    'One of two questions. To ask whether an operation on a token is allowed, send `token_id` and `operation`. To ask whether a call is allowed, send `path_name` or `proxy_id`, with `method` and `path`.',
  examples: [
    { token_id: 'b7f3a0c4-5d2e-4f18-9c61-0a8e4d7b3f92', operation: 'token:read' },
    { path_name: 'processor', method: 'POST', path: '/v1/charges', token_id: 'b7f3a0c4-5d2e-4f18-9c61-0a8e4d7b3f92' },
  ],
  properties: {
    token_id: {
      type: 'string',
      minLength: 1,
      maxLength: 400,
      description:
        'Id of an existing token. If you send `operation`, it is the token on which the Application would do the operation. If you send `path_name` or `proxy_id`, it is a token whose value the call would reveal',
    },
    operation: { type: 'string', enum: tokenPermissions, description: 'The operation on the token' },
    path_name: { type: 'string', maxLength: 63, description: '`path_name` of the route that is called' },
    proxy_id: { ...uuid, description: 'The Proxy that is called' },
    method: { type: 'string', minLength: 1, maxLength: 50, description: 'Method of the call' },
    path: {
      type: 'string',
      maxLength: 16_384,
      description:
        'The part of the path that follows the address of the route or Proxy. Write it as the caller sends it. A query is ignored',
    },
    place: {
      ...tokenUseSchema.properties.places.items,
      description:
        'The part of the call that has the token: `body`, `query`, `path` or `header:<name>`. Send it only with `token_id`. Without `place`, `use.places` of the token is not checked',
    },
  },
} as const;

const explanation = {
  type: 'object',
  title: 'AccessExplanation',
  description: 'Whether an Application may do something with a token or make a call, and what decides.',
  required: ['allowed', 'reason'],
  examples: [
    {
      allowed: true,
      transform: 'mask',
      decided_by: { rule: 0 },
      reason:
        'rules[0] (Reads cards masked) decides: it is the first of the rules that grant token:read on this token.',
    },
  ],
  properties: {
    allowed: { type: 'boolean' },
    transform: {
      type: 'string',
      enum: ['redact', 'mask', 'reveal'],
      description:
        'How a response would show the `data` of the token. Absent if the operation is not allowed, or if the request has `path_name` or `proxy_id` instead of `operation`',
    },
    decided_by: {
      type: 'object',
      title: 'DecidedBy',
      description:
        'What granted or refused the operation or the call. Exactly one field of `decided_by` is present. If nothing grants the operation, `decided_by` is absent',
      properties: {
        application: {
          type: 'string',
          enum: ['proxies'],
          description:
            'Name of the field of the Application that causes the refusal. Present only if the Application refuses the call',
        },
        proxy: {
          type: 'string',
          enum: ['allowed_methods', 'allowed_paths'],
          description:
            'Name of the field of the Proxy that causes the refusal. Present only if the Proxy refuses the call',
        },
        token: {
          type: 'string',
          enum: membersOfUse,
          description:
            'Name of the field of the token that causes the refusal. Present only if the token refuses the call',
        },
        rule: {
          type: 'integer',
          description:
            'Position of the deciding rule in the `rules` of the Application. The first rule has the position 0',
        },
        permission: {
          type: 'string',
          description: "The operation is granted by this permission, which is one of the Application's `permissions`",
        },
      },
    },
    reason: { type: 'string', description: 'The decision as a sentence' },
  },
} as const;

export const explainAccess = operation({
  id: 'explainAccess',
  tag: 'Applications',
  summary: 'Explain whether an Application may do something with a token or make a call, and why',
  description:
    'The decision is made by the same code as for real requests. The response never has `data`. For `token:create` the response says whether the Application could create another token in the containers of the token `token_id`. The response is about the Application itself. Its sessions can have fewer rights, but never more.\n\n**Questions about a call** need the permission `proxy:read`, too. The decision depends on the permission `token:use` and on these fields: `proxies` of the Application, `allowed_methods` and `allowed_paths` of the Proxy, and `use` of the token. `token_id` is a token that the caller sends in the call. Tokens in `request_headers` of the Proxy are not checked. `use.max_uses` is compared with the number of uses so far. Your question is not counted as a use.',
  method: 'post',
  path: '/applications/:id/explain',
  permission: 'application:read',
  params: idParams,
  body: question,
  idempotent: false,
  response: { 200: explanation },
  errors: ['not_found'],
  async handle({ params, body, caller }, context) {
    const { db } = context;
    const asked = readQuestion(body);
    if (asked.kind === 'call') requireToReadProxies(caller);
    const application = await findApplication(db, caller.tenantId, params.id);
    if (!application) throw applicationNotFound(params.id);
    if (asked.kind === 'call') return answerCall(context, application, asked);
    const { operation: permission } = asked;
    const place = await findAskedToken(db, caller.tenantId, asked.tokenId);
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
    return `No rule grants ${by.permission} on this token, so the permission ${by.permission} of the Application decides: it applies to every container.`;
  }
  const description = rules[by.rule]?.description;
  const name = `rules[${by.rule}]${description ? ` (${description})` : ''}`;
  return `${name} decides: it is the first, by priority and then by position, of the rules that grant this on the token.`;
}
