import type { DataKey } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { Badge, Card, Facts } from '../../ui/layout.tsx';
import { Empty, Guarded, Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { tokenTypes } from '../tokens/token-search.ts';
import { SettingsPage } from './settings-page.tsx';

const purposes: Readonly<Record<DataKey['purpose'], string>> = {
  token_data: 'Values of tokens',
  proxy_secrets: 'Secrets of Proxies and reactors',
  fingerprint: 'Fingerprints',
  blind_index: 'Search indexes',
  idempotency: 'Stored responses',
};

const stateNames = { current: 'Current', previous: 'Previous' } as const;

const count = new Intl.NumberFormat();

const columns: readonly Column<DataKey>[] = [
  { title: 'Purpose', cell: ({ purpose }) => purposes[purpose] },
  { title: 'Version', width: '7rem', cell: ({ version }) => version },
  {
    title: 'State',
    tight: true,
    width: '8rem',
    cell: ({ state }) => <Badge tone={state === 'current' ? 'good' : undefined}>{stateNames[state]}</Badge>,
  },
  { title: 'Created', from: 46, tight: true, width: '9.5rem', cell: ({ created_at }) => <Time at={created_at} /> },
  { title: 'Reserved', width: '8rem', cell: ({ uses }) => count.format(uses) },
];

export function VaultState() {
  return (
    <SettingsPage intro="The keys that encrypt this Tenant's values, and how many values there are.">
      <Card title="Tokens">
        <Guarded needs="report:read" what="You cannot see the usage report">
          <Usage />
        </Guarded>
      </Card>
      <Card
        title="Data keys"
        intro="The root key of the installation encrypts each data key. Rotating a data key creates a new version of this key. Then the values under older versions are encrypted again with the new version. Before a process encrypts values, it reserves encryptions with the key, at least 1,024 at once. The column Reserved counts the reserved encryptions. This count can be higher than the number of encrypted values."
        flush
      >
        <Guarded needs="tenant:read" what="You cannot see the data keys">
          <DataKeys />
        </Guarded>
      </Card>
    </SettingsPage>
  );
}

function Usage() {
  const query = useQuery({ queryKey: ['usage'], queryFn: ({ signal }) => sluice.tenant.usage({ signal }) });
  return (
    <Loaded query={query}>
      {({ token_report: { monthly_active_tokens: active, metrics_by_type: types } }) => (
        <Facts
          facts={{
            'Active this month': count.format(active),
            ...Object.fromEntries(
              Object.entries(types).map(([type, { count: some }]) => [nameOf(type), count.format(some)]),
            ),
          }}
        />
      )}
    </Loaded>
  );
}

function nameOf(type: string): string {
  return tokenTypes[type as keyof typeof tokenTypes] ?? type;
}

function DataKeys() {
  const query = useQuery({
    queryKey: ['data-keys'],
    queryFn: ({ signal }) => sluice.tenant.dataKeys({ signal }).toArray(),
  });
  return (
    <Loaded query={query}>
      {(keys) =>
        keys.length === 0 ? (
          <Empty icon="lock" title="No keys yet">
            A data key is created when its first value is encrypted.
          </Empty>
        ) : (
          <Table
            label="Data keys"
            columns={columns}
            rows={keys}
            keyOf={({ purpose, version }) => `${purpose} ${version}`}
            stacks
          />
        )
      }
    </Loaded>
  );
}
