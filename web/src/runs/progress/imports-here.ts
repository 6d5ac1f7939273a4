/** Names of files that are being imported by this page, which shows the results. */
const importing = new Set<string>()

/** Begins an import whose result this page shows; returns what ends it. */
export function beginImport(file: string): () => void {
  importing.add(file)
  // The end of the run may arrive shortly after the response.
  return () => void setTimeout(() => importing.delete(file), SHOWN_MS)
}

const SHOWN_MS = 5000

/** Whether this page shows the end of the import of a file. */
export function isImportedHere(file: string | undefined): boolean {
  return file !== undefined && importing.has(file)
}
