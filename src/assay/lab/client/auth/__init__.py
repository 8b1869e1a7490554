"""Authorization: how clients discover authorization servers, get tokens and use them."""
