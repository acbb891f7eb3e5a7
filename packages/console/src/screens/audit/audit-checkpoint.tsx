import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sluice } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { readKeyFile, verifyCheckpoint } from '../../ledger/checkpoint.ts';
import { Code } from '../../ui/copy.tsx';
import { Card, Page } from '../../ui/layout.tsx';
import { Guarded, Loaded } from '../../ui/states.tsx';
import styles from './audit.module.css';
import { KeptKeys } from './kept-keys.tsx';
import { VerdictBox } from './verdict-box.tsx';

const count = new Intl.NumberFormat();

export function AuditCheckpoint() {
  return (
    <Page
      title="Checkpoint"
      intro="A signed statement about all rows that the audit log has now. Keep it. If anybody changes, removes, inserts or reorders any of these rows later, the log no longer matches the statement."
      back={<Link to="/audit">Audit</Link>}
    >
      <Guarded needs="log:read" what="You cannot see the audit log">
        <Newest />
      </Guarded>
    </Page>
  );
}

function Newest() {
  const { tenant } = useMe();
  const query = useQuery({
    queryKey: ['logs', 'checkpoint'],
    queryFn: async ({ signal }) => {
      const [note, keyFile] = await Promise.all([
        sluice.logs.checkpoint({ signal }),
        sluice.logs.publicKey(tenant.id, { signal }),
      ]);
      return { note, keyFile, checkpoint: await verifyCheckpoint(note, await readKeyFile(keyFile)) };
    },
  });
  return (
    <Card title="Latest checkpoint" intro="Its signature was checked by this page.">
      <Loaded query={query}>
        {({ note, keyFile, checkpoint: { size, signedBy } }) => (
          <>
            <VerdictBox isGood title={`Signed: the ledger has ${count.format(size)} ${size === 1 ? 'row' : 'rows'}`}>
              <p>
                By the key <code>{signedBy.keyId}</code> of <code>{signedBy.name}</code>.
              </p>
            </VerdictBox>
            <Code text={note} what="the checkpoint" />
            <p className={styles.remark}>
              Store this checkpoint outside of this installation, together with an export of the log. With this
              checkpoint, <code>sluice logs verify</code> can later check that the log still contains every row that the
              checkpoint covers. The page of each row has a proof of its own.
            </p>
            <KeptKeys keyFile={keyFile} />
          </>
        )}
      </Loaded>
    </Card>
  );
}
