import { listProxyMembers, type ProxyMemberName, type ProxyMembers, proxyMembers } from '@sluice/database';
import { mergePatchOf } from '@sluice/http-api';
import { authorship, example, uuid } from '../resource.schema.ts';

type Bodies = { [M in ProxyMemberName]: ProxyMembers[M]['schema'] };
type Required = { [M in ProxyMemberName]: ProxyMembers[M]['absent'] extends 'refused' ? M : never }[ProxyMemberName];

const members = listProxyMembers();

const sample = Object.fromEntries(
  members.flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example]])),
);

/** Also checks the result of a merge patch. */
export const proxyBody = {
  type: 'object',
  title: 'ProxyBody',
  required: members.filter(([, { absent }]) => absent === 'refused').map(([name]) => name as Required),
  examples: [sample],
  properties: Object.fromEntries(members.map(([name, { schema }]) => [name, schema])) as Bodies,
} as const;

/** Accepts `application_id` too, so that a response can be sent back. */
export const proxyPutBody = {
  ...proxyBody,
  title: 'ProxyPut',
  properties: {
    ...proxyBody.properties,
    application: {
      ...proxyBody.properties.application,
      type: ['object', 'null'],
      description: `${proxyBody.properties.application.description}. Null: none`,
    },
    application_id: { ...uuid, type: ['string', 'null'], description: 'Counts where `application` is not a member' },
  },
} as const;

/** The result of the merge is checked as a body. */
export const proxyPatchBody = mergePatchOf(proxyPutBody, {
  title: 'ProxyPatch',
  description: 'The members of ProxyPut, all optional. null removes a member.',
  examples: [{ name: 'Payment processor, new', configuration: { MERCHANT: 'acct_20932' }, response_transform: null }],
});

/** Named as in responses. */
const answered = Object.fromEntries(
  members.map(([name, { kept, column, schema, answered }]) => {
    const { default: _, ...always } = schema;
    return [kept === 'reference' ? column : name, answered ?? always];
  }),
);

const always = members.filter(([name, { absent }]) => absent !== 'unset' && name !== 'name').map(([name]) => name);

export const proxy = {
  type: 'object',
  title: 'Proxy',
  description: 'A pre-configured forwarding endpoint.',
  examples: [
    {
      id: '3e9d1c52-7b0f-4a86-9c41-b5f20e6a8d73',
      tenant_id: example.tenant_id,
      key: 'ExampleProxyKeyExampleProxyKey00',
      ...sample,
      application_id: example.application_id,
      ...example.authorship,
    },
  ],
  required: ['id', 'tenant_id', 'name', 'key', ...always],
  properties: {
    id: uuid,
    tenant_id: { ...uuid, description: 'Owning Tenant' },
    name: proxyMembers.name.schema,
    key: { type: 'string', description: 'Selects the Proxy in an invocation' },
    ...answered,
    former_application_id: {
      ...uuid,
      description:
        'The Application that the Proxy named, if it was deleted or has expired since. The code of the Proxy has no `req.svc` until the Proxy names another one',
    },
    ...authorship,
  },
} as const;
