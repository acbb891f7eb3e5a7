import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { useEffect, useRef } from 'react';
import styles from './code-editor.module.css';
import { completeFrom, type Names } from './completions.ts';
import { theme } from './theme.ts';
import { useView } from './use-view.ts';

interface CodeFault {
  /** From 1. */
  line: number;
  message: string;
}

interface CodeEditorProps {
  /** For screen readers. */
  label: string;
  code: string;
  onCode: (code: string) => void;
  names: Names;
  readOnly?: boolean;
  fault?: CodeFault | undefined;
}

/** An editor of JavaScript. Tab moves on as everywhere; indentation follows the line above. */
export default function CodeEditor({ label, code, onCode, names, readOnly = false, fault }: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ onCode, names });
  latest.current = { onCode, names };
  const view = useView(place, code, [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    history(),
    drawSelection(),
    highlightActiveLine(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    javascript(),
    autocompletion({ override: [(context) => completeFrom(latest.current.names)(context)], icons: false }),
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
    EditorState.readOnly.of(readOnly),
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) latest.current.onCode(state.doc.toString());
    }),
    theme,
  ]);
  useEffect(() => {
    const { current } = view;
    if (!current) return;
    if (current.state.doc.toString() !== code) {
      current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: code } });
    }
    const line =
      fault && fault.line >= 1 && fault.line <= current.state.doc.lines && current.state.doc.line(fault.line);
    const found =
      line && fault ? [{ from: line.from, to: line.to, severity: 'error' as const, message: fault.message }] : [];
    current.dispatch(setDiagnostics(current.state, found));
  }, [view, code, fault]);
  return <div ref={place} className={styles.place} />;
}
