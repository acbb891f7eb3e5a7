/** Ten values as they are kept in tokens. With all their forms a guard looks for some 110 texts. */
export const tenValues: readonly string[] = [
  '4242424242424242',
  '5555555555554444',
  '378282246310005',
  'Ada Lovelace',
  'ada.lovelace@example.com',
  '12 Analytical Row, London',
  '+44 20 7946 0958',
  'DE89 3704 0044 0532 0130 00',
  '078-05-1120',
  'sk_live_9f8e7d6c5b4a39281706',
];
