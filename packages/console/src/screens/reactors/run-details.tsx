import type { ReactorRun } from '@sluice/sdk';
import { useState } from 'react';
import { headerPrefix } from '../../api/client.ts';
import { useMissingRight } from '../../api/me.ts';
import { useNames } from '../../api/use-names.ts';
import { ThingLink } from '../../app/thing-link.tsx';
import styles from '../../code/code.module.css';
import { ConsoleLines } from '../../code/console-lines.tsx';
import { Button } from '../../ui/button.tsx';
import { Code, Id } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts, Soft } from '../../ui/layout.tsx';
import { Time } from '../../ui/time.tsx';
import { RunState } from './run-state.tsx';
import { isUnderWay, tookOf } from './run-text.ts';

const whyNotCancelled =
  'Only the Application or session that requested a run can cancel it, with its own key. The console has no such key. The details show the call that cancels the run.';

interface RunProps {
  run: ReactorRun;
  reactorId: string;
}

/** Everything that is known of a run, behind a button, and beside it why a person cannot cancel the run. */
export function RunDetails({ run, reactorId }: RunProps) {
  const [open, setOpen] = useState(false);
  return (
    <div className={styles.acts}>
      {isUnderWay(run) && (
        <Button small refusal={whyNotCancelled}>
          Cancel
        </Button>
      )}
      <Button small onClick={() => setOpen(true)}>
        Details
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title="Run" wide>
        <Details run={run} reactorId={reactorId} />
        <div className={styles.acts}>
          <Button onClick={() => setOpen(false)}>Close</Button>
        </div>
      </Dialog>
    </div>
  );
}

function Details({ run, reactorId }: RunProps) {
  const { id, created_by: caller, state, created_at, started_at, ended_at, console: lines = [] } = run;
  const missing = useMissingRight('reactor:update');
  const application = useNames('applications', [caller]).get(caller);
  const noLines = ended_at ? 'It has no console lines.' : 'Its console lines are stored when it ends.';
  return (
    <>
      <Facts
        facts={{
          Id: <Id id={id} />,
          'Requested by': application ? (
            <ThingLink type="application" id={caller} name={application} />
          ) : (
            <Id id={caller} what="the id of the caller" />
          ),
          State: <RunState state={state} />,
          Requested: <Time at={created_at} />,
          Began: started_at && <Time at={started_at} />,
          Ended: ended_at && <Time at={ended_at} />,
          Took: tookOf(run),
        }}
      />
      {isUnderWay(run) && (
        <div>
          <h3>Cancel this run</h3>
          <p>
            <Soft>
              Send the call below with the key of the caller of this run. The run can be cancelled only until its code
              calls another service or changes a token.
            </Soft>
          </p>
          <Code text={cancelCall(reactorId, id)} what="the call that cancels the run" />
        </div>
      )}
      {lines.length > 0 ? (
        <ConsoleLines lines={lines} />
      ) : (
        <div>
          <h3>Console</h3>
          <Soft>{missing ?? noLines}</Soft>
        </div>
      )}
    </>
  );
}

function cancelCall(reactorId: string, runId: string): string {
  return `curl -X DELETE "$SLUICE_URL/reactors/${reactorId}/results/${runId}" \\\n  -H "${headerPrefix}-API-KEY: $SLUICE_API_KEY"`;
}
