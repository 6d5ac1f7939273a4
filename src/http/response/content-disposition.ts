/**
 * Returns the header that makes a browser save a response under a file name (RFC 6266): in ASCII for old browsers, and as given. Characters
 * that file systems or headers do not allow become an underscore.
 */
export function attachment(fileName: string): string {
  const name = fileName.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}"*/:<>?\\|]/gu, '_')
  const ascii = name.replaceAll(/[^\x20-\x7e]|%/gu, '_')
  const plain = `attachment; filename="${ascii}"`
  return ascii === name ? plain : `${plain}; filename*=UTF-8''${encodeRfc8187(name)}`
}

function encodeRfc8187(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
