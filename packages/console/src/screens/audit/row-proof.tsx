import type { Log } from '@sluice/sdk';
import { useQuery } from '@tanstack/react-query';
import { sluice } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { verifyRow } from '../../ledger/verify-row.ts';
import { Code } from '../../ui/copy.tsx';
import { Card } from '../../ui/layout.tsx';
import { Loaded } from '../../ui/states.tsx';
import { KeptKeys } from './kept-keys.tsx';
import { VerdictBox } from './verdict-box.tsx';

const count = new Intl.NumberFormat();

/** Proves, by a computation in the page, that the ledger contains the row exactly as the page shows it. */
export function RowProof({ row }: { row: Log }) {
  const { tenant } = useMe();
  const query = useQuery({
    queryKey: ['logs', 'proof', row.id],
    queryFn: async ({ signal }) => {
      const [proof, keyFile] = await Promise.all([
        sluice.logs.proof(row.id, { signal }),
        sluice.logs.publicKey(tenant.id, { signal }),
      ]);
      return { proof, keyFile, verdict: await verifyRow(row, proof, keyFile) };
    },
  });
  return (
    <Card title="Proof" intro="This page has computed it from the row that is shown here.">
      <Loaded query={query}>
        {({ proof, keyFile, verdict }) =>
          verdict.isProven ? (
            <>
              <VerdictBox
                isGood
                title={`Proven: this is row ${count.format(proof.leaf_index + 1)} of the ${count.format(proof.tree_size)} that are signed`}
              >
                <ol>
                  <li>
                    The row has the hash <code>{proof.leaf_hash}</code>, which is in the ledger.
                  </li>
                  <li>
                    {proof.hashes.length === 0
                      ? 'It is the only row, so its hash is the root'
                      : `With ${proof.hashes.length} more ${proof.hashes.length === 1 ? 'hash' : 'hashes'} it gives the root`}{' '}
                    <code>{verdict.checkpoint.root}</code>.
                  </li>
                  <li>
                    The key <code>{verdict.checkpoint.signedBy.keyId}</code> of{' '}
                    <code>{verdict.checkpoint.signedBy.name}</code> has signed this root.
                  </li>
                </ol>
                <p>
                  So only somebody with this key can have changed the row after the root was signed. This does not prove
                  that every event was logged.
                </p>
              </VerdictBox>
              <Code text={proof.checkpoint} what="the checkpoint" />
              <KeptKeys keyFile={keyFile} />
            </>
          ) : (
            <VerdictBox title="Not proven: do not trust this row">
              <p>{verdict.reason}</p>
              <p>
                Save this page and the response of <code>GET /logs/{row.id}/proof</code>, and compare the row with your
                last export.
              </p>
            </VerdictBox>
          )
        }
      </Loaded>
    </Card>
  );
}
