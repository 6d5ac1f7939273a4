/** Whether a URL is of a host of a list of `host`, `host:port` and `*.host`, as the server's policy of the page allows. */
export function isOfHosts(url: string, hosts: readonly string[]): boolean {
  if (hosts.length === 0 || !URL.canParse(url)) return false
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') return false
  const place = `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`
  return hosts.some((host) => {
    const isWild = host.startsWith('*.')
    const wanted = isWild ? host.slice(1) : host
    const found = /:[0-9]+$/.test(host) ? place : hostname
    return isWild ? found.endsWith(wanted) : found === wanted
  })
}

/** The hosts whose images the page may load, as the server has written them into it. */
const HOSTS: readonly string[] =
  globalThis.document?.querySelector<HTMLMetaElement>('meta[name="image-hosts"]')?.content.split(' ') ?? []

/** Whether the page may load an image from a URL. */
export function isAllowedImage(url: string): boolean {
  return isOfHosts(url, HOSTS)
}

/** Returns how to allow the images of the host of a URL. */
export function imageAdvice(url: string): string {
  return `The viewer shows no images of ${new URL(url).host}: to allow it, start the server with --allow-images ${new URL(url).host}`
}
