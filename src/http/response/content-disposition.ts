/**
 * The header that has a browser keep an answer as a file of this name (RFC 6266): in ASCII for old ones, and as it is. What
 * file systems do not take, or a header cannot hold, is a low line.
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
