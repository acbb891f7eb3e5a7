import type { ReactorRun } from '@sluice/sdk';
import { useState } from 'react';
import { useMissingRight } from '../../api/me.ts';
import styles from '../../code/code.module.css';
import { ConsoleLines } from '../../code/console-lines.tsx';
import { Button } from '../../ui/button.tsx';
import { Id } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts, Soft } from '../../ui/layout.tsx';
import { Time } from '../../ui/time.tsx';
import { RunState } from './run-state.tsx';
import { tookOf } from './run-text.ts';

/** Everything that is known of a run, behind a button. */
export function RunDetails({ run }: { run: ReactorRun }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        Details
      </Button>
      <Dialog open={open} onClose={() => setOpen(false)} title="Run" wide>
        <Details run={run} />
        <div className={styles.acts}>
          <Button onClick={() => setOpen(false)}>Close</Button>
        </div>
      </Dialog>
    </>
  );
}

function Details({ run }: { run: ReactorRun }) {
  const { id, created_by, state, created_at, started_at, ended_at, console: lines = [] } = run;
  const missing = useMissingRight('reactor:update');
  const noLines = ended_at ? 'No lines of its console were kept.' : 'What its code prints is kept when it ends.';
  return (
    <>
      <Facts
        facts={{
          Id: <Id id={id} />,
          'Asked for by': <Id id={created_by} what="the id of who asked for it" />,
          State: <RunState state={state} />,
          'Asked for': <Time at={created_at} />,
          Began: started_at && <Time at={started_at} />,
          Ended: ended_at && <Time at={ended_at} />,
          Took: tookOf(run),
        }}
      />
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
