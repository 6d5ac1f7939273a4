/** Hands a text to the browser as a file to keep. */
export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads it after this has returned.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** A name for people as the name of a file: letters and digits, the rest as hyphens. */
export function fileName(name: string, ending: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
  return `${plain === '' ? 'result' : plain}.${ending}`
}
