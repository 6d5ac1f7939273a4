import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { test } from 'node:test'
import { isRefusedAddress } from './refused-addresses.ts'

const REFUSED = `
  169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255 100.100.100.200 168.63.129.16 192.0.0.192
  fe80:: fe80::1 FE80::1 febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe80::1%eth0 fe80::1%25 fe80::1%2%3 169.254.169.254%eth0
  fd00:ec2::254 fd00:ec2::23 fd00:ec2:ffff::1 fd00:0ec2:0:0:0:0:0:0254 fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42
  ::ffff:169.254.169.254 ::ffff:a9fe:a9fe 0:0:0:0:0:ffff:a9fe:a9fe ::FFFF:A9FE:0 ::ffff:169.254.169.254%1
  ::ffff:100.100.100.200 ::ffff:168.63.129.16 ::ffff:192.0.0.192
  ::169.254.169.254 ::a9fe:a9fe 0::a9fe:a9fe ::100.100.100.200 ::168.63.129.16 ::192.0.0.192
  ::ffff:0:169.254.169.254 ::ffff:0:a9fe:a9fe ::ffff:0:100.100.100.200
  64:ff9b::169.254.169.254 64:ff9b::a9fe:a9fe 0064:ff9b:0:0:0:0:a9fe:a9fe 64:ff9b::192.0.0.192
  64:ff9b:1::169.254.169.254 64:ff9b:1:2:3:4:a9fe:a9fe 64:ff9b:1:a9fe:a9:fe00:: 64:ff9b:1:a9:fe:a9fe::
  64:ff9b:1:7:a9:fea9:fe00:0 64:ff9b:1:6464:64:c800::
  2002:a9fe:a9fe:: 2002:a9fe:a9fe::1 2002:a9fe:0:1:2:3:4:5 2002:6464:64c8::
`

const CALLED = `
  127.0.0.1 0.0.0.0 10.0.0.1 172.16.0.1 192.168.1.1 8.8.8.8 255.255.255.255 169.253.255.255 169.255.0.0 100.100.100.199
  100.100.100.201 168.63.129.15 168.63.129.17 192.0.0.191 192.0.0.193 100.64.0.1
  ::1 :: fe7f:ffff:: fec0::1 fd00::1 fd00:ec1:ffff::1 fd00:ec3::1 fd20:ce::253 fd20:ce::255 fd00:c1::1 fd00:42::41
  ::ffff:127.0.0.1 ::ffff:169.253.0.1 ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::8.8.8.8 64:ff9b:1::8.8.8.8
  64:ff9b:2::a9fe:a9fe 64:ff9b:0:1::a9fe:a9fe 64:ff9a::a9fe:a9fe 2001:db8::a9fe:a9fe 1::a9fe:a9fe 2002:808:808:: 2003:a9fe:a9fe::
  2001:db8::1 a9fe:a9fe::
`

const NO_ADDRESSES = [
  '',
  'localhost',
  '169.254.169.254.',
  '2852039166',
  '[fe80::1]',
  '169.254.169',
  ':::',
  '%',
]

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}

test('link-local and cloud metadata addresses are refused in all forms that contain them', () => {
  for (const address of words(REFUSED)) assert.ok(isRefusedAddress(address), address)
})

test('their neighbours, loopback and private addresses are not refused', () => {
  for (const address of words(CALLED)) assert.ok(!isRefusedAddress(address), address)
})

test('a text that is not an address is not refused as one', () => {
  for (const text of NO_ADDRESSES) assert.ok(!isRefusedAddress(text), text)
})

test('BlockList of Node.js recognizes IPv4-mapped addresses, which the list relies on', () => {
  const list = new BlockList()
  list.addSubnet('169.254.0.0', 16, 'ipv4')
  for (const address of ['::ffff:169.254.1.1', '::ffff:a9fe:1', '0:0:0:0:0:ffff:a9fe:1']) {
    assert.ok(list.check(address, 'ipv6'), address)
  }
  assert.ok(!list.check('::ffff:169.253.1.1', 'ipv6'))
})
