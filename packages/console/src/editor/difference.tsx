import { javascript } from '@codemirror/lang-javascript';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useRef } from 'react';
import styles from './code-editor.module.css';
import { theme } from './theme.ts';
import { useView } from './use-view.ts';

interface DifferenceProps {
  label: string;
  before: string;
  after: string;
}

/** The differences between two texts. For other texts mount it anew, with another `key`. */
export default function Difference({ label, before, after }: DifferenceProps) {
  const place = useRef<HTMLDivElement>(null);
  useView(place, after, [
    lineNumbers(),
    javascript(),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    unifiedMergeView({
      original: before,
      mergeControls: false,
      syntaxHighlightDeletions: false,
      collapseUnchanged: { margin: 3, minSize: 6 },
    }),
    theme,
  ]);
  return <div ref={place} className={styles.difference} />;
}
