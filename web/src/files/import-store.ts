import { useSyncExternalStore } from 'react'

/** A file that may be imported, with a number that differs for each choice. */
export interface ChosenFile {
  readonly file: File
  readonly number: number
}

let chosen: ChosenFile | null = null
let last = 0
const listeners = new Set<() => void>()

function replace(next: ChosenFile | null): void {
  chosen = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Opens the dialog that imports a file; null closes it. */
export function openImport(file: File | null): void {
  last += 1
  replace(file === null ? null : { file, number: last })
}

/** Returns the file of the open dialog; null for none. */
export function useChosenFile(): ChosenFile | null {
  return useSyncExternalStore(subscribe, () => chosen)
}

/** The extensions of the files that can be imported. */
const ACCEPTED = '.csv,.tsv,.tab,.txt,.xlsx,.json,.geojson,.ndjson,.jsonl,.parquet,.gz,.zst'

/** Opens the browser's choice of a file, and then the dialog. */
export function chooseFile(): void {
  const input = document.createElement('input')
  input.type = 'file'
  input.accept = ACCEPTED
  input.addEventListener('change', () => openImport(input.files?.[0] ?? null))
  input.click()
}
