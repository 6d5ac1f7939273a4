/** Downloads a text as a file. */
export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the URL after this returns.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** Converts a name to a file name: letters and digits, others as hyphens. */
export function fileName(name: string, ending: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
  return `${plain === '' ? 'result' : plain}.${ending}`
}
