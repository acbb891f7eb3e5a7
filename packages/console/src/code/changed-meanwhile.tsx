import { Suspense } from 'react';
import type { Edit } from '../api/use-edit.ts';
import { Difference } from '../editor/lazy-editor.tsx';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/states.tsx';
import styles from './code.module.css';
import { textsOf } from './resource-text.ts';

interface ChangedMeanwhileProps {
  edit: Pick<Edit<object, unknown>, 'base' | 'theirs' | 'takeTheirs' | 'overwrite' | 'isSaving'>;
  /** For example `the Proxy`. */
  what: string;
}

/** Shown if somebody else has changed the resource since the person began to edit it. */
export function ChangedMeanwhile({
  edit: { base, theirs, takeTheirs, overwrite, isSaving },
  what,
}: ChangedMeanwhileProps) {
  if (!theirs) return null;
  const [before, after] = textsOf(base, theirs);
  return (
    <div className={styles.meanwhile} role="alert">
      <h3>
        <Icon name="alert" size={16} />
        Somebody else has changed {what} since you opened it
      </h3>
      <p>Nothing was saved. These are their changes:</p>
      <Suspense fallback={<Loading />}>
        <Difference key={after} label="Their changes" before={before} after={after} />
      </Suspense>
      <div className={styles.acts}>
        <Button onClick={takeTheirs}>Discard my changes</Button>
        <Button kind="danger" busy={isSaving} onClick={overwrite}>
          Overwrite with my changes
        </Button>
      </div>
    </div>
  );
}
