import { BlockList, isIP } from 'node:net'

/** Link-local networks, and the metadata services of clouds, which return credentials without authentication. */
const REFUSED_IPV4 = [
  // Link-local (RFC 3927); AWS, Azure, Google Cloud, DigitalOcean, Oracle and others have their metadata there.
  ['169.254.0.0', 16],
  // Alibaba Cloud.
  ['100.100.100.200', 32],
  // Azure's platform (WireServer).
  ['168.63.129.16', 32],
  // Oracle Cloud.
  ['192.0.0.192', 32],
] as const

const REFUSED_IPV6 = [
  // Link-local (RFC 4291).
  ['fe80::', 10],
  // AWS: metadata, and credentials of pods.
  ['fd00:ec2::', 32],
  // Google Cloud.
  ['fd20:ce::254', 128],
  // Oracle Cloud.
  ['fd00:c1::a9fe:a9fe', 128],
  // Scaleway.
  ['fd00:42::42', 128],
] as const

/** A form of IPv6 address that contains an IPv4 address in these of its 16 bytes. */
interface Embedding {
  /** Matches the address in 32 hexadecimal digits. */
  readonly prefix: RegExp
  readonly bytes: readonly number[]
}

/** Without IPv4-mapped addresses: `BlockList` handles these itself. */
const EMBEDDINGS: readonly Embedding[] = [
  // IPv4-compatible, `::/96` (RFC 4291).
  { prefix: /^0{24}/, bytes: [12, 13, 14, 15] },
  // IPv4-translated, `::ffff:0:0:0/96` (RFC 2765, SIIT).
  { prefix: /^0{16}ffff0000/, bytes: [12, 13, 14, 15] },
  // NAT64, `64:ff9b::/96` (RFC 6052).
  { prefix: /^0064ff9b0{16}/, bytes: [12, 13, 14, 15] },
  // Local NAT64, `64:ff9b:1::/48` (RFC 8215), for each length of the prefix within it (RFC 6052, section 2.2).
  { prefix: /^0064ff9b0001/, bytes: [6, 7, 9, 10] },
  { prefix: /^0064ff9b0001/, bytes: [7, 9, 10, 11] },
  { prefix: /^0064ff9b0001/, bytes: [9, 10, 11, 12] },
  { prefix: /^0064ff9b0001/, bytes: [12, 13, 14, 15] },
  // 6to4, `2002::/16` (RFC 3056).
  { prefix: /^2002/, bytes: [2, 3, 4, 5] },
]

/** The networks that are never called, as `<address>/<length>`; IPv6 forms of the IPv4 addresses are refused as well. */
export const REFUSED_NETWORKS: readonly string[] = [...REFUSED_IPV4, ...REFUSED_IPV6].map(
  ([network, length]) => `${network}/${length}`,
)

const REFUSED = new BlockList()
for (const [network, length] of REFUSED_IPV4) REFUSED.addSubnet(network, length, 'ipv4')
for (const [network, length] of REFUSED_IPV6) REFUSED.addSubnet(network, length, 'ipv6')

/**
 * Whether a text is an IP address that is never called: one of a link-local network or of a cloud's metadata service, or an IPv6 form of
 * one. A zone (`%eth0`) is ignored. False for other texts.
 */
export function isRefusedAddress(text: string): boolean {
  const [address = ''] = text.split('%', 1)
  switch (isIP(address)) {
    case 4:
      return REFUSED.check(address, 'ipv4')
    case 6:
      return REFUSED.check(address, 'ipv6') || embedded(address).some((inner) => REFUSED.check(inner, 'ipv4'))
    default:
      return false
  }
}

/** Returns the IPv4 addresses that an IPv6 address may contain. */
function embedded(address: string): string[] {
  const digits = hexDigits(address)
  return EMBEDDINGS.filter(({ prefix }) => prefix.test(digits)).map(({ bytes }) =>
    bytes.map((index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16)).join('.'),
  )
}

/** Returns an IPv6 address as 32 hexadecimal digits. */
function hexDigits(address: string): string {
  // A parsed URL has no dots in it, and at most one `::`.
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [before = '', after = ''] = canonical.split('::').map((part) =>
    part
      .split(':')
      .map((group) => (group === '' ? '' : group.padStart(4, '0')))
      .join(''),
  )
  return before + '0'.repeat(32 - before.length - after.length) + after
}
