import { lazy } from 'react';

/** Loaded when code is shown, because the editor is larger than everything else. Needs a `Suspense` around it. */
export const CodeEditor = lazy(() => import('./code-editor.tsx'));

export const Difference = lazy(() => import('./difference.tsx'));
