import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { notices } from '../api/notices.ts';
import { Button, type ButtonProps } from './button.tsx';
import styles from './filters.module.css';
import { Fault } from './states.tsx';

interface Collected {
  file: Blob;
  /** The text of the notice. */
  said: string;
  /** What the file lacks. */
  missing?: string | undefined;
}

interface CsvDownloadProps extends Pick<ButtonProps, 'small' | 'needs'> {
  /** Of the file, without its date. */
  name: string;
  collect: (options: { signal: AbortSignal; onProgress: (text: string) => void }) => Promise<Collected>;
}

/** Makes a file in the browser. It can be cancelled, and leaving the page cancels it. */
export function CsvDownload({ name, collect, ...look }: CsvDownloadProps) {
  const [progress, setProgress] = useState('');
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const download = useMutation({
    mutationFn: async () => {
      const controller = new AbortController();
      running.current = controller;
      setProgress('');
      try {
        return await collect({ signal: controller.signal, onProgress: setProgress });
      } catch (error) {
        if (controller.signal.aborted) return undefined;
        throw error;
      }
    },
    onSuccess: (collected) => {
      if (!collected) return;
      const today = new Date().toISOString().slice(0, 10);
      save(collected.file, `${name}-${today}.csv`);
      notices.add({ title: collected.said, description: collected.missing });
    },
  });
  if (download.isPending) {
    return (
      <>
        <span className={styles.progress} role="status">
          {progress || 'Reading'}
        </span>
        <Button {...look} onClick={() => running.current?.abort()}>
          Cancel
        </Button>
      </>
    );
  }
  return (
    <>
      <Fault error={download.error} />
      <Button {...look} icon="download" title="Download the list as CSV" onClick={() => download.mutate()}>
        CSV
      </Button>
    </>
  );
}

/** Browsers read a blob some time after the click. */
const readWithinMs = 60_000;

function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), readWithinMs);
}
